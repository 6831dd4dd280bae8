import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { AccountExportStore, JOBS_PAGE_BYTES } from './account-export.store';

const LIMIT = 200;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** Jobs with graphs and logs of so many bytes. @returns their account. */
async function jobsOf(sizes: readonly { graph: number; log: number }[]): Promise<string> {
  const accountId = await makeAccount(test.database);
  const { poolId } = await makePool(test.database);
  await test.database.models.accountQueue.create({ data: { poolId, accountId, runningLimit: 1 } });
  for (const { graph, log } of sizes) {
    const id = newId();
    const end = new Date(Date.now() + 3_600_000);
    const own = { id, accountId, poolId, surface: 'cloud', maxAttempts: 1, deadlineAt: end, expiresAt: end };
    await test.database.models.job.create({ data: own });
    const workflow = JSON.stringify({ text: 'x'.repeat(graph) });
    await test.database.models.jobGraph.create({ data: { jobId: id, workflow, nodeCount: 1 } });
    await test.database.execute(Prisma.sql`
      INSERT INTO job_logs (job_id, text, truncated, complete, captured_at) VALUES (${id}::uuid, ${'x'.repeat(log)}, false, true, now())`);
  }
  return accountId;
}

/** The bytes of each job, page by page. */
async function pagesOf(accountId: string): Promise<number[][]> {
  const store = new AccountExportStore();
  const pages: number[][] = [];
  for (let after: string | null = null; ;) {
    const page = await store.page(test.database, 'jobs', { accountId, after, limit: LIMIT });
    const last = page.at(-1);
    if (last === undefined) return pages;
    pages.push(page.map(({ line }) => Buffer.byteLength(line)));
    after = last.place;
  }
}

it('the outputs of an export are all that its ended jobs made and that is still there, also what they no longer show', async () => {
  const accountId = await jobsOf([{ graph: 1, log: 0 }]);
  const { asset, blob, job, jobOutput } = test.database.models;
  const { id: jobId } = await job.findFirstOrThrow({ where: { accountId } });
  const data = { status: 'canceled', delivery: 'done', seq: 2, chargedMicros: 0n, completedAt: new Date() };
  await job.update({ where: { id: jobId }, data });
  const hash = `blake3:${'a'.repeat(64)}`;
  await blob.create({ data: { accountId, hash, sizeBytes: 1n } });
  const make = async (filePath: string, expiresInMs: number): Promise<string> => {
    const own = { id: newId(), accountId, jobId, hash, sizeBytes: 1n, contentType: 'text/plain', filePath, attempt: 1 };
    return (await asset.create({ data: { ...own, expiresAt: new Date(Date.now() + expiresInMs) } })).id;
  };
  const [replaced, shown] = [await make('replaced.txt', 60_000), await make('shown.txt', 60_000)];
  await make('withdrawn.txt', -60_000);
  const place = { nodeId: '1', nodeIndex: 0, attempt: 2, ordinal: 0, name: 'shown.txt', type: 'text' };
  await jobOutput.create({ data: { jobId, assetId: shown, ...place } });
  const page = { accountId, jobIds: [jobId], limit: LIMIT };
  expect(await new AccountExportStore().outputs(test.database, page)).toMatchObject([
    { assetId: replaced, jobId, name: 'replaced.txt' },
    { assetId: shown, jobId, name: 'shown.txt' },
  ]);
  const another = { ...page, accountId: await makeAccount(test.database) };
  expect(await new AccountExportStore().outputs(test.database, another)).toEqual([]);
});

describe('a page of the jobs of an export', () => {
  it('has no more bytes than are counted for it, and at least one job', async () => {
    const large = { graph: JOBS_PAGE_BYTES, log: JOBS_PAGE_BYTES };
    const third = { graph: JOBS_PAGE_BYTES / 6, log: JOBS_PAGE_BYTES / 6 };
    const accountId = await jobsOf([third, third, third, large, third, third, large]);
    const pages = await pagesOf(accountId);
    expect(pages.map(({ length }) => length)).toEqual([2, 1, 1, 2, 1]);
    const long = pages.filter((page) => page.reduce((sum, bytes) => sum + bytes, 0) > JOBS_PAGE_BYTES);
    expect(long.map(({ length }) => length)).toEqual([1, 1]);
  });

  it('has many jobs where they are small', async () => {
    const accountId = await jobsOf(Array.from({ length: 30 }, () => ({ graph: 100, log: 0 })));
    expect((await pagesOf(accountId)).map(({ length }) => length)).toEqual([30]);
  });
});
