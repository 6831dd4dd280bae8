import { randomBytes } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId, type BatchJobView, type BatchView, type Job } from '@millrace/contracts';
import { JobAudit } from '@millrace/jobs';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';

const PATH = '/api/v2/batches';
const JOBS = 10_000;
const MIB = 1_048_576;
/** 300 MiB of outputs in one archive. */
const ARCHIVED_JOBS = 300;
const OUTPUT_BYTES = MIB;
/** Some 50 MiB of lines, and several times as much as objects: most of it are names, as long as they may be. */
const LISTED_JOBS = 2_500;
const OUTPUTS_OF_EACH = 12;
const LONG_NAME = 1_000;
/** Of either, memory holds pieces. */
const ALLOWED_BYTES = 64 * MIB;
const SAMPLE_MS = 100;
/** The end of an archive, with its manifest, is in the last pieces of the answer. */
const KEPT_PIECES = 64;
const LONG_MS = 600_000;
const GRAPH = {
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
};

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start();
  account = await stack.createAccount(1_000_000_000_000, { queue_limit: 2 * JOBS });
  client = new ApiClient(stack.publicUrl, account.apiKey);
}, LONG_MS);
afterAll(() => stack.stop());

const submit = async (jobs: number): Promise<BatchView> => {
  const table = { '1.color': Array.from({ length: jobs }, (_, color) => color) };
  const { status, body } = await client.call<BatchView>('POST', PATH, { json: { workflow: GRAPH, table } });
  expect(status).toBe(201);
  return body;
};

/** What the api process itself says that it holds. */
async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${stack.api.opsUrl}/metrics`)).text();
  const line = /^process_resident_memory_bytes\S* (\S+)$/m.exec(text);
  if (line === null) throw new Error('the metrics lack the resident memory');
  return Number(line[1]);
}

/** By how many bytes the api process grows while an answer is read, and what was read. */
async function read(path: string, take: (piece: Uint8Array) => void): Promise<{ grownBytes: number; bytes: number }> {
  const before = await residentBytes();
  let [peak, bytes, over] = [before, 0, false];
  const watching = (async () => {
    while (!over) {
      peak = Math.max(peak, await residentBytes());
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
  })();
  const answer = await fetch(`${stack.publicUrl}${path}`, { headers: { authorization: `Bearer ${account.apiKey}` } });
  expect(answer.status).toBe(200);
  for await (const piece of answer.body ?? []) {
    bytes += (piece as Uint8Array).length;
    take(piece as Uint8Array);
  }
  over = true;
  await watching;
  return { grownBytes: peak - before, bytes };
}

describe('a batch of ten thousand jobs', () => {
  let batch: BatchView;

  it(
    'is admitted whole: each job once, in its place, with its hold',
    async () => {
      const beganMs = performance.now();
      batch = await submit(JOBS);
      process.stdout.write(`${JOBS} jobs admitted in ${Math.round(performance.now() - beganMs)} ms\n`);
      expect(batch).toMatchObject({ item_count: JOBS, job_count: JOBS, refused_count: 0 });
      const [there] = await stack.test.database.rows<{ jobs: number; last: number; held: number }>(Prisma.sql`
        SELECT count(DISTINCT batch_index)::int AS jobs, max(batch_index)::int AS last,
          (SELECT count(*)::int FROM ledger_transactions t WHERE t.account_id = ${account.id}::uuid AND t.kind = 'hold') AS held
        FROM jobs WHERE batch_id = ${batch.id}::uuid`);
      expect(there).toEqual({ jobs: JOBS, last: JOBS - 1, held: JOBS });
    },
    LONG_MS,
  );

  it(
    'delays the job of another account by no more than the lane and the turns of its accounts',
    async () => {
      const other = new ApiClient(stack.publicUrl, (await stack.createAccount()).apiKey);
      await eventually('the batch to run', async () => {
        const { body } = await client.call<BatchView>('GET', `${PATH}/${batch.id}`);
        return body.counts.running + body.counts.succeeded > 0;
      });
      const { id } = await other.run(GRAPH);
      expect((await other.ended(id, LONG_MS)).status).toBe('succeeded');
      const [found] = await stack.test.database.rows<{ before: number; lane: number; waiting: number }>(Prisma.sql`
        SELECT (SELECT count(*)::int FROM jobs a WHERE a.batch_id = ${batch.id}::uuid
            AND a.started_at > b.created_at AND a.started_at <= b.started_at) AS before,
          (SELECT p.look_ahead + sum(w.capacity)::int FROM workers w WHERE w.pool_id = p.id AND w.stopped_at IS NULL) AS lane,
          (SELECT count(*)::int FROM jobs a WHERE a.batch_id = ${batch.id}::uuid AND a.delivery = 'waiting') AS waiting
        FROM jobs b JOIN pools p ON p.id = b.pool_id WHERE b.id = ${id}::uuid`);
      // What is in the lane is before it, and one turn of the other account.
      expect(found?.before).toBeLessThanOrEqual((found?.lane ?? 0) + 2);
      expect(found?.waiting).toBeGreaterThan(JOBS / 2);
    },
    LONG_MS,
  );

  it(
    'has books that are right',
    async () => {
      await stack.workers[0]?.end();
      const findings: unknown[] = [];
      for await (const finding of new JobAudit(stack.test.database).findings()) findings.push(finding);
      expect(findings).toEqual([]);
    },
    LONG_MS,
  );
});

describe('what a large batch has made', () => {
  /** A batch of one job that has run. */
  let small: string;
  beforeAll(async () => {
    await stack.addWorker();
    account = await stack.createAccount();
    client = new ApiClient(stack.publicUrl, account.apiKey);
    const { id } = await submit(1);
    await eventually('the job to end', async () => {
      const { body } = await client.call<BatchView>('GET', `${PATH}/${id}`);
      return body.status === 'completed';
    });
    small = id;
    for (const path of ['results', 'outputs.zip']) await read(`${PATH}/${id}/${path}`, () => undefined);
  }, LONG_MS);

  // Before the archive, which leaves the process room that the lines would fit into.
  it(
    'is read as lines, in the order of the batch and in flat memory',
    async () => {
      const id = await plant(small, { jobs: LISTED_JOBS, outputs: OUTPUTS_OF_EACH, nameLength: LONG_NAME });
      let [lines, text] = [0, ''];
      const { grownBytes, bytes } = await read(`${PATH}/${id}/results`, (piece) => {
        const parts = (text + Buffer.from(piece).toString('latin1')).split('\n');
        text = parts.pop() ?? '';
        for (const line of parts) {
          const job = JSON.parse(line) as BatchJobView;
          expect([job.batch_index, job.outputs.length]).toEqual([lines, OUTPUTS_OF_EACH]);
          lines += 1;
        }
      });
      process.stdout.write(`${lines} lines, ${Math.round(bytes / MIB)} MiB: ${Math.round(grownBytes / MIB)} MiB\n`);
      expect(lines).toBe(LISTED_JOBS);
      expect(bytes).toBeGreaterThan(ALLOWED_BYTES / 2);
      expect(grownBytes).toBeLessThan(ALLOWED_BYTES);
    },
    LONG_MS,
  );

  it(
    'is one archive, made in flat memory',
    async () => {
      const id = await plant(small, { jobs: ARCHIVED_JOBS, outputs: 1, nameLength: 1 });
      const last: Uint8Array[] = [];
      const { grownBytes, bytes } = await read(`${PATH}/${id}/outputs.zip`, (piece) => {
        if (last.push(piece) > KEPT_PIECES) last.shift();
      });
      const tail = Buffer.concat(last).toString('latin1');
      process.stdout.write(`an archive of ${Math.round(bytes / MIB)} MiB: ${Math.round(grownBytes / MIB)} MiB\n`);
      expect(bytes).toBeGreaterThan(ARCHIVED_JOBS * OUTPUT_BYTES);
      expect(tail).toContain('manifest.json');
      expect(tail.match(/"included":true/g)).toHaveLength(ARCHIVED_JOBS);
      expect(grownBytes).toBeLessThan(ALLOWED_BYTES);
    },
    LONG_MS,
  );

  /** Another batch with the one job of a batch many times over, each with outputs of its own that have the bytes of an upload. */
  async function plant(
    batchId: string,
    { jobs, outputs, nameLength }: { jobs: number; outputs: number; nameLength: number },
  ): Promise<string> {
    const { body: asset } = await client.upload(randomBytes(OUTPUT_BYTES), {
      content_type: 'application/octet-stream',
      file_path: 'a.bin',
    });
    const id = newId();
    const found = (await client.call<{ jobs: Job[] }>('GET', `${PATH}/${batchId}/jobs`)).body;
    const jobId = found.jobs[0]?.id ?? '';
    const same = (rows: string, changes: Prisma.Sql): Prisma.Sql =>
      Prisma.sql`SELECT (jsonb_populate_record(r, jsonb_build_object(${changes}))).* FROM ${Prisma.raw(rows)} r`;
    await stack.test.database.execute(Prisma.sql`
      WITH made AS MATERIALIZED (
        SELECT n, gen_random_uuid() AS job_id FROM generate_series(0, ${jobs - 1}) AS n
      ), made_output AS MATERIALIZED (
        SELECT made.job_id, o, gen_random_uuid() AS asset_id FROM made, generate_series(1, ${outputs}) AS o
      ), batch AS (
        INSERT INTO batches ${same('batches', Prisma.sql`'id', ${id}::uuid, 'job_count', ${jobs}::int, 'item_count', ${jobs}::int`)}
        WHERE r.id = ${batchId}::uuid
      ), jobs_made AS (
        INSERT INTO jobs ${same('made, jobs', Prisma.sql`'id', made.job_id, 'batch_id', ${id}::uuid, 'batch_index', made.n`)}
        WHERE r.id = ${jobId}::uuid
      ), assets_made AS (
        INSERT INTO assets ${same('made_output m, assets', Prisma.sql`'id', m.asset_id, 'job_id', m.job_id`)}
        WHERE r.id = ${asset.id}::uuid
      )
      INSERT INTO job_outputs ${same(
        'made_output m, job_outputs',
        Prisma.sql`'job_id', m.job_id, 'asset_id', m.asset_id, 'node_index', m.o, 'ordinal', m.o, 'name', m.o || repeat('n', ${nameLength}::int) || '.bin'`,
      )}
      WHERE r.job_id = ${jobId}::uuid`);
    // The planner knows nothing of rows that came all at once until autovacuum has counted them.
    await stack.test.database.execute(Prisma.sql`ANALYZE jobs, assets, job_outputs`);
    return id;
  }
});
