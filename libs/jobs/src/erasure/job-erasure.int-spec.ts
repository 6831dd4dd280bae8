import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobErasureStore } from './job-erasure.store';

const LIMIT = 200;
const ACCOUNT = { kind: 'account' } as const;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** Ended jobs with so many outputs each, in the order of their ids. @returns their account. */
async function endedWith(outputs: readonly number[]): Promise<string> {
  const { database } = test;
  const accountId = await makeAccount(database);
  const { poolId } = await makePool(database);
  await database.models.accountQueue.create({ data: { poolId, accountId, runningLimit: 1 } });
  const hash = `blake3:${'a'.repeat(64)}`;
  await database.execute(
    Prisma.sql`INSERT INTO blobs (account_id, hash, size_bytes) VALUES (${accountId}::uuid, ${hash}, 1)`,
  );
  for (const count of outputs) {
    const id = newId();
    await database.execute(Prisma.sql`
      INSERT INTO jobs (id, account_id, pool_id, surface, status, delivery, max_attempts, deadline_at, expires_at, completed_at, charged_micros)
      VALUES (${id}::uuid, ${accountId}::uuid, ${poolId}, 'cloud', 'canceled', 'done', 1, now(), now(), now(), 0)`);
    await database.execute(Prisma.sql`
      WITH made AS (
        INSERT INTO assets (id, account_id, hash, size_bytes, content_type, file_path, job_id)
        SELECT gen_random_uuid(), ${accountId}::uuid, ${hash}, 1, 'text/plain', 'a.txt', ${id}::uuid FROM generate_series(1, ${count}::int)
        RETURNING id
      )
      INSERT INTO job_outputs (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
      SELECT ${id}::uuid, '1', row_number() OVER (), 1, row_number() OVER (), row_number() OVER () || '.txt', 'image', made.id FROM made`);
  }
  return accountId;
}

it('what a job no longer shows is erased with it: outputs of an attempt that was lost', async () => {
  const accountId = await endedWith([3]);
  const store = new JobErasureStore();
  const [jobId = ''] = await store.listEnded(test.database, accountId, ACCOUNT, LIMIT);
  await test.database.execute(Prisma.sql`DELETE FROM job_outputs WHERE job_id = ${jobId}::uuid AND node_index > 1`);
  const { outputIds } = await test.database.transaction((tx) => store.delete(tx, accountId, [jobId]));
  const made = await test.database.models.asset.findMany({ where: { jobId } });
  expect(outputIds.sort()).toEqual(made.map(({ id }) => id).sort());
  expect(outputIds).toHaveLength(3);
});

it('jobs are erased as many at a time as have few thousand outputs together, and at least one', async () => {
  const accountId = await endedWith([2_000, 2_500, 1_000, 6_000, 10]);
  const store = new JobErasureStore();
  const pages: number[] = [];
  for (;;) {
    const ids = await store.listEnded(test.database, accountId, ACCOUNT, LIMIT);
    if (ids.length === 0) break;
    const { outputIds } = await test.database.transaction((tx) => store.delete(tx, accountId, ids));
    pages.push(outputIds.length);
  }
  expect(pages).toEqual([4_500, 1_000, 6_000, 10]);
});
