import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { VersionFigures } from './version-figures.service';
import { VersionFiguresStore } from './version-figures.store';

let test: TestDatabase;
const store = new VersionFiguresStore();
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** A deployment with pools for two versions. */
async function deployment(): Promise<{ id: string; accountId: string }> {
  const { models } = test.database;
  const [id, accountId] = [newId(), await makeAccount(test.database)];
  for (const pool of [id, `${id}-v2`]) await models.pool.create({ data: { id: pool, engine: 'cpu' } });
  await models.deployment.create({ data: { id, accountId, name: 'a test', poolId: id } });
  await test.database.execute(Prisma.sql`
    INSERT INTO account_queues (pool_id, account_id, waiting, running_limit, pass)
    SELECT id, ${accountId}::uuid, 0, 1, 0 FROM pools WHERE id LIKE ${`${id}%`}`);
  return { id, accountId };
}

interface Planted {
  status: 'queued' | 'succeeded' | 'failed' | 'canceled';
  count?: number;
  engineMs?: number;
  chargedMicros?: number;
  reusedFrom?: string | null;
}

async function plant(
  { id, accountId }: { id: string; accountId: string },
  version: number,
  { status, count = 1, engineMs = 0, chargedMicros = 0, reusedFrom = null }: Planted,
): Promise<void> {
  const [poolId, done] = [version === 1 ? id : `${id}-v${version}`, status !== 'queued'];
  const attempt = done && reusedFrom === null ? 1 : 0;
  const error = status === 'failed' ? '{}' : null;
  await test.database.execute(Prisma.sql`
    INSERT INTO jobs (id, account_id, pool_id, surface, deployment_id, status, delivery, attempt, max_attempts, started_at, completed_at,
      deadline_at, expires_at, held_micros, charged_micros, billable_ms, error, reused_from)
    SELECT new_job_id(), ${accountId}::uuid, ${poolId}, 'deployment', ${id}::uuid, ${status}, ${done ? 'done' : 'waiting'}, ${attempt}, 3,
      CASE WHEN ${attempt} = 1 THEN now() END, CASE WHEN ${done} THEN now() END, now(), now(),
      CASE WHEN ${reusedFrom}::uuid IS NULL THEN 1000 ELSE 0 END, CASE WHEN ${done} THEN ${chargedMicros}::bigint END,
      ${engineMs}::bigint, ${error}::jsonb, ${reusedFrom}::uuid
    FROM generate_series(1, ${count})`);
}

describe('how the latest jobs of a deployment came out', () => {
  const of = (id: string): ReturnType<VersionFigures['of']> => new VersionFigures(test.database, store).of(id);

  it('is summed by version, with the median time and cost of those that succeeded with a run of their own', async () => {
    const made = await deployment();
    for (const engineMs of [100, 200, 900]) {
      await plant(made, 1, { status: 'succeeded', engineMs, chargedMicros: engineMs / 10 });
    }
    await plant(made, 1, { status: 'succeeded', reusedFrom: newId() });
    await plant(made, 1, { status: 'failed', engineMs: 5 });
    await plant(made, 2, { status: 'canceled' });
    await plant(made, 2, { status: 'queued', count: 3 });
    await plant(await deployment(), 1, { status: 'failed' });
    expect(await of(made.id)).toEqual(
      new Map([
        [1, { version: 1, jobs: 5, succeeded: 4, failed: 1, medianEngineMs: 200, medianChargedMicros: 20 }],
        [2, { version: 2, jobs: 1, succeeded: 0, failed: 0, medianEngineMs: null, medianChargedMicros: null }],
      ]),
    );
  });

  it('is nothing for one without jobs', async () => {
    expect(await of((await deployment()).id)).toEqual(new Map());
  });

  it('is read from its latest jobs alone, however many there are', async () => {
    const made = await deployment();
    await plant(made, 1, { status: 'failed', count: 10 });
    await plant(made, 2, { status: 'succeeded', count: 5_000 });
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
    expect([...(await of(made.id)).keys()]).toEqual([2]);
    const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      Prisma.sql`EXPLAIN (FORMAT JSON) ${store.findSql((await deployment()).id)}`,
    );
    const readings = (row?.['QUERY PLAN'] ?? [])
      .flatMap(({ Plan }) => nodesOf(Plan))
      .filter((node) => node['Relation Name'] === 'jobs');
    expect(readings.map((node) => node['Index Name'])).toEqual(['jobs_deployment_idx']);
  });
});
