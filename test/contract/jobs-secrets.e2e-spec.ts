import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { EXTRA_DATA_KEYS, newId, type Job } from '@millrace/contracts';
import { Prisma } from '@prisma/client';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';
import { OwnRedis } from './support/own-redis';
/** What no place may hold: it stands for a customer's credential. */
const CANARY = `canary-${newId()}-of-a-customer`;
const SPELLINGS = [CANARY, Buffer.from(CANARY).toString('base64').slice(0, 40), Buffer.from(CANARY).toString('hex')];

let server: OwnRedis;
let redis: Redis;
/** A connection of its own: left open it would look for the killed server, at a port that another server has by then. */
let monitor: Redis;
/** Every command that any process sent to Redis, as MONITOR shows it. */
const commands: string[] = [];
let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  server = await OwnRedis.start();
  redis = new Redis(server.url);
  monitor = await redis.monitor();
  monitor.on('monitor', (_time: string, args: string[]) => commands.push(args.join(' ')));
  stack = await TestStack.start({ settings: { REDIS_URL: server.url, MILLRACE_LOG_LEVEL: 'debug' } });
  account = await stack.createAccount(10_000_000_000);
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(async () => {
  await stack.stop();
  monitor.disconnect();
  redis.disconnect();
  await server.kill();
});

const EXTRA = Object.fromEntries(EXTRA_DATA_KEYS.map((key) => [key, CANARY]));
const GOOD = {
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};
const LONG = {
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 512, height: 512, steps: 10_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
};

const secrets = (): Promise<string[]> => redis.keys('millrace:secret:*');
const secretOf = (id: string): Promise<string | null> => redis.get(`millrace:secret:${id}`);

/** @throws when a text holds the canary in any spelling. */
function assertClean(place: string, text: string): void {
  for (const spelling of SPELLINGS) if (text.includes(spelling)) throw new Error(`${place} holds the credential`);
}

async function assertCleanEverywhere(): Promise<void> {
  const { database } = stack.test;
  const tables = await database.query<{ name: string }>(
    Prisma.sql`SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  expect(tables.length).toBeGreaterThan(15);
  for (const { name } of tables) {
    const [dump] = await database.query<{ text: string | null }>(
      Prisma.sql`SELECT string_agg(t::text, ' ') AS text FROM ${Prisma.raw(name)} AS t`,
    );
    assertClean(`the table ${name}`, dump?.text ?? '');
  }
  for (const key of await redis.keys('*')) {
    const dump = (await redis.dumpBuffer(key)) ?? Buffer.alloc(0);
    assertClean(`the Redis key ${key}`, dump.toString('latin1'));
  }
  assertClean('a command to Redis', commands.join('\n'));
  for (const running of [stack.api, stack.maintenance, ...stack.workers]) {
    assertClean(`a log line of ${running.role}`, running.lines.join('\n'));
  }
  for (const folder of [stack.env.MILLRACE_BLOB_DIR, stack.env.MILLRACE_WORK_DIR]) {
    for (const entry of await readdir(folder ?? '', { recursive: true, withFileTypes: true }).catch(() => [])) {
      if (entry.isFile()) assertClean(entry.name, await readFile(join(entry.parentPath, entry.name), 'latin1'));
    }
  }
}

describe('a credential in extra_data', () => {
  it('is kept sealed while its job waits and runs, and is in no answer', async () => {
    const running = await client.run(LONG, { extra_data: EXTRA });
    await eventually('it to run', async () => (await client.job(running.id)).status === 'running');
    const waiting = await client.run(GOOD, { extra_data: EXTRA });
    expect(await secretOf(running.id)).not.toBeNull();
    expect(await secretOf(waiting.id)).not.toBeNull();
    expect(await redis.ttl(`millrace:secret:${waiting.id}`)).toBeGreaterThan(86_000);
    await assertCleanEverywhere();
    for (const path of ['', '/workflow', '/nodes', '/attempts']) {
      assertClean(path, (await client.call('GET', `/api/v2/jobs/${waiting.id}${path}`)).text);
    }
    await client.call<Job>('POST', `/api/v2/jobs/${running.id}/cancel`);
    await Promise.all([client.ended(running.id), client.ended(waiting.id)]);
    await eventually('both to be forgotten', async () => (await secrets()).length === 0);
  });

  it.each([
    ['succeeded', GOOD],
    [
      'failed',
      {
        '1': { class_type: 'LoadImage', inputs: { image: null } },
        '2': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
      },
    ],
  ])('is deleted when its job has %s', async (status, workflow) => {
    const graph = JSON.parse(JSON.stringify(workflow)) as Record<string, { inputs: Record<string, unknown> }>;
    if (status === 'failed') {
      const file = { content_type: 'image/png', file_path: 'broken.png' };
      const { body } = await client.upload(Buffer.from('\x89PNG\r\n\x1a\n no picture', 'latin1'), file);
      const loader = graph['1'];
      if (loader !== undefined) loader.inputs.image = { __type: 'core/ASSET', info: { id: body.id } };
    }
    const { id } = await client.run(graph, { extra_data: EXTRA });
    expect((await client.ended(id)).status).toBe(status);
    await eventually('it to be forgotten', async () => (await secretOf(id)) === null);
  });

  it('is deleted when its job is canceled in the queue, and when it expires there', async () => {
    const running = await client.run(LONG);
    const [canceled, expired] = [
      await client.run(GOOD, { extra_data: EXTRA }),
      await client.run(GOOD, { extra_data: EXTRA }),
    ];
    await client.call('POST', `/api/v2/jobs/${canceled.id}/cancel`);
    await stack.test.database.models.job.update({ where: { id: expired.id }, data: { deadlineAt: new Date() } });
    expect((await client.ended(expired.id)).status).toBe('expired');
    await eventually('both to be forgotten', async () => (await secrets()).length === 0);
    await client.call('POST', `/api/v2/jobs/${running.id}/cancel`);
    await client.ended(running.id);
  });

  it('is kept nowhere when the submission is refused', async () => {
    const poor = await stack.createAccount(0);
    const text = JSON.stringify({ workflow: GOOD, extra_data: EXTRA });
    expect((await new ApiClient(stack.publicUrl, poor.apiKey).submit(text)).status).toBe(402);
    expect((await client.submit(text.replace('"PreviewAny"', '"Nothing"'))).status).toBe(422);
    expect((await client.submit(`${text},`)).status).toBe(400);
    await eventually('all to be forgotten', async () => (await secrets()).length === 0);
  });

  it('has left no trace: in no table, key, queue payload, file or log', async () => {
    expect(commands.some((command) => command.includes('millrace:secret:'))).toBe(true);
    await assertCleanEverywhere();
  });

  it('is kept by a Redis that writes nothing to disk', async () => {
    expect(await redis.config('GET', 'save')).toEqual(['save', '']);
    expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'no']);
  });
});
