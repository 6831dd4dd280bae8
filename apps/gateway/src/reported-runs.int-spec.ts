import { Prisma } from '@prisma/client';
import type { Progress } from '@millrace/contracts';
import { LivePublisher, RedisConnections } from '@millrace/messaging';
import { createLogger } from '@millrace/platform';
import { eventually, testRedisUrl } from '@millrace/testing';
import { GatewayWorld } from './fixtures/gateway-world';

/** What a worker reports of its run, of which each text is as long as its body may be. */

const MIB = 1_048_576;
const LOG_TAIL_BYTES = 65_536;
const redis = new RedisConnections(testRedisUrl(), createLogger('test', 'silent'));
const live = new LivePublisher(redis.producer());
let world: GatewayWorld;
beforeAll(async () => {
  world = await GatewayWorld.open({ logTailBytes: LOG_TAIL_BYTES, attemptLimitSeconds: 3_600 });
});
afterAll(async () => {
  await redis.close();
  await world.close();
});

const progressOf = (bytes: number): Progress => ({
  ...{ value: 0.5, nodes_done: 0, nodes_total: 1 },
  message: `m${' of many'.repeat(bytes / 8)}`,
});

interface Stored {
  progressBytes: number;
  nodesBytes: number;
  log: string | null;
  truncated: boolean | null;
}

/** Bytes that PostgreSQL has of a run, and the log. */
async function storedOf(jobId: string): Promise<Stored> {
  const [row] = await world.test.database.rows<Stored>(Prisma.sql`
    SELECT octet_length(j.progress::text) AS progress_bytes, coalesce(octet_length(a.nodes::text), 0) AS nodes_bytes, l.text AS log, l.truncated
    FROM jobs j JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt LEFT JOIN job_logs l ON l.job_id = j.id
    WHERE j.id = ${jobId}::uuid`);
  if (row === undefined) throw new Error('there is no such job');
  return row;
}

it('the end of a run is kept with the beginning of its message, the end of its log and short names of its nodes', async () => {
  const worker = await world.worker();
  const jobId = await world.submit(worker.poolId);
  const attempt = await worker.take();
  const node = { nodeId: '1', classType: 'c'.repeat(MIB), state: 'done', ms: 1 };
  const reported = {
    ...{ ending: 'succeeded', failure: null, engineMs: 5 },
    progress: progressOf(12 * MIB),
    nodes: [node],
    log: { text: `${'x'.repeat(5 * MIB)} the last words`, truncated: false },
  };
  const end = { kind: 'finished', result: reported, last: null };
  expect((await worker.of(attempt, 'POST', 'ends', end)).body).toEqual({ recorded: true });
  const stored = await storedOf(jobId);
  expect(stored.progressBytes).toBeLessThan(2_000);
  expect(stored.nodesBytes).toBeLessThan(1_000);
  expect(stored).toMatchObject({ log: expect.stringMatching(/^x+ the last words$/) as string, truncated: true });
  expect(stored.log).toHaveLength(LOG_TAIL_BYTES);
});

it('the progress of a heartbeat and of an event is kept with the beginning of its message', async () => {
  const worker = await world.worker();
  const jobId = await world.submit(worker.poolId);
  const attempt = await worker.take();
  const progress = progressOf(MIB);
  expect((await worker.of(attempt, 'POST', 'heartbeats', { progress, engineMs: 5 })).status).toBe(200);
  expect((await storedOf(jobId)).progressBytes).toBeLessThan(2_000);
  expect((await worker.of(attempt, 'POST', 'events', { kind: 'progress', progress })).status).toBe(200);
  const shown = await eventually('the progress to be kept', async () => (await live.progress([jobId]))[0]);
  expect(shown.message).toMatch(/^m of many/);
  expect(shown.message?.length).toBeLessThan(2_000);
});

it('a preview that is larger than those of samplers is refused, with what is wrong, and the run goes on', async () => {
  const worker = await world.worker();
  const jobId = await world.submit(worker.poolId);
  const attempt = await worker.take();
  const eventOf = (length: number): object => ({
    kind: 'preview',
    preview: { node_id: '1', content_type: 'image/jpeg', data_base64: 'A'.repeat(length) },
  });
  const refused = await worker.of(attempt, 'POST', 'events', eventOf(262_148));
  expect(refused).toMatchObject({ status: 422, body: { error: { code: 'invalid_request' } } });
  expect(refused.text).toContain('preview.data_base64');
  expect(refused.text).toContain('send a JPEG of 196608 bytes at most');
  expect((await worker.of(attempt, 'POST', 'events', eventOf(262_144))).status).toBe(200);
  const shown = await eventually('the preview to be kept', async () => (await live.snapshot(jobId)).preview);
  expect(shown.data_base64).toHaveLength(262_144);
});
