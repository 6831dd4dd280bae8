import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { TurnStore } from '../rotation';
import { ONE_TURN } from '../rotation/turn.store';
import { RetiredJobs } from './retired-jobs.service';
import { RetiredPoolStore } from './retired-pool.store';

let test: TestDatabase;
let world: JobWorld;
let dispatched: string[];
let retired: RetiredJobs;
beforeEach(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
  dispatched = [];
  retired = new RetiredJobs(test.database, new RetiredPoolStore(), (poolId) => dispatched.push(poolId));
});
afterEach(() => test.drop());

interface TwoVersions {
  id: string;
  older: string;
  newer: string;
}

/** A deployment with two versions; the newer one has this share, and is the deployment's own or not. */
async function twoVersions(newerWeight: number, newerIsOwn = false): Promise<TwoVersions> {
  const { models } = test.database;
  const [id, accountId] = [newId(), await makeAccount(test.database)];
  const [older, newer] = [id, `${id}-v2`];
  for (const pool of [older, newer]) await models.pool.create({ data: { id: pool, engine: 'cpu' } });
  const poolId = newerIsOwn ? newer : older;
  await models.deployment.create({ data: { id, accountId, name: 'a test', poolId } });
  const beside = newerIsOwn
    ? { number: 1, poolId: older, weight: 100 - newerWeight }
    : { number: 2, poolId: newer, weight: newerWeight };
  const scale = { minWorkers: 0, maxWorkers: 1, idleSeconds: 0 };
  await models.deploymentVersion.create({ data: { deploymentId: id, ...beside, ...scale } });
  return { id, older, newer };
}

const poolOf = async (id: string): Promise<string> =>
  (await test.database.models.job.findUniqueOrThrow({ where: { id } })).poolId;
/** Where counters differ from the jobs that they count. */
const miscounts = (): Promise<unknown[]> =>
  test.database.rows(Prisma.sql`
    SELECT q.pool_id FROM account_queues q
    WHERE q.waiting <> (SELECT count(*) FROM jobs j WHERE (j.pool_id, j.account_id, j.delivery) = (q.pool_id, q.account_id, 'waiting'))
       OR q.in_flight <> (SELECT count(*) FROM jobs j WHERE (j.pool_id, j.account_id) = (q.pool_id, q.account_id)
                            AND j.delivery IN ('dispatched', 'leased'))`);

describe('jobs of a version out of use', () => {
  it.each([false, true])(
    'wait for the older one after a rollback (the newer one is the own: %s); what runs stays',
    async (isOwn) => {
      const { older, newer } = await twoVersions(0, isOwn);
      const running = await world.submit({ poolId: newer });
      await world.start(running);
      const inLane = await world.submit({ poolId: newer });
      await world.dispatch(newer);
      const waiting = await world.submit({ poolId: newer, accountId: inLane.accountId });
      expect(await retired.moveOn(null)).toBe(2);
      expect([await poolOf(running.id), await poolOf(inLane.id), await poolOf(waiting.id)]).toEqual([
        newer,
        older,
        older,
      ]);
      expect(await world.queueOf({ poolId: older, accountId: inLane.accountId })).toEqual({ waiting: 2, inFlight: 0 });
      expect(await world.queueOf({ poolId: newer, accountId: inLane.accountId })).toEqual({ waiting: 0, inFlight: 0 });
      expect(dispatched).toEqual([older]);
      expect([await retired.moveOn(null), await miscounts()]).toEqual([0, []]);
      expect((await world.start({ poolId: older })).jobId).toBe(inLane.id);
    },
  );

  it('have their places by age where their account has had turns already', async () => {
    const { older, newer } = await twoVersions(0);
    const first = await world.submit({ poolId: newer });
    const { accountId } = first;
    const second = await world.submit({ poolId: older, accountId });
    const third = await world.submit({ poolId: older, accountId });
    await world.dispatch(older);
    expect(await retired.moveOn(null)).toBe(1);
    const fromTheHead = { ...ONE_TURN, most: 2, watermarks: { pass: -1n, inFlightSince: new Date(0) } };
    const turns = await new TurnStore().take(test.database, older, 100, fromTheHead);
    expect(turns.map(({ job }) => job?.jobId)).toEqual([first.id, third.id]);
    expect((await test.database.models.job.findUniqueOrThrow({ where: { id: second.id } })).delivery).toBe(
      'dispatched',
    );
  });

  it('wait for the version that stays when theirs has ended', async () => {
    const { id, older, newer } = await twoVersions(30);
    const job = await world.submit({ poolId: newer });
    await test.database.models.deploymentVersion.updateMany({
      where: { deploymentId: id },
      data: { endedAt: new Date(), weight: 0 },
    });
    expect(await retired.moveOn(null)).toBe(1);
    expect(await poolOf(job.id)).toBe(older);
  });

  it('are those of one deployment where it is given', async () => {
    const [mine, others] = [await twoVersions(0), await twoVersions(0)];
    const job = await world.submit({ poolId: mine.newer });
    const other = await world.submit({ poolId: others.newer });
    expect(await retired.moveOn(mine.id)).toBe(1);
    expect([await poolOf(job.id), await poolOf(other.id)]).toEqual([mine.older, others.newer]);
  });

  it.each([
    ['both have a share', 10, false],
    ['the newer one has all: it may not be ready', 100, false],
    ['the newer one has all, and is the own', 100, true],
  ])('are none where %s', async (_how, weight, isOwn) => {
    const { older, newer } = await twoVersions(weight, isOwn);
    await world.submit({ poolId: older });
    await world.submit({ poolId: newer });
    expect(await retired.moveOn(null)).toBe(0);
  });

  it('are counted rightly while others are accepted, dispatched and end', async () => {
    const { older, newer } = await twoVersions(0);
    const accounts = [
      await makeAccount(test.database, { micros: 9_000_000n }),
      await makeAccount(test.database, { micros: 9_000_000n }),
    ];
    const submit = (): Promise<unknown> =>
      Promise.all(accounts.map((accountId) => world.submit({ poolId: newer, accountId, holdMicros: 0n })));
    for (let round = 0; round < 6; round += 1) await submit();
    const run = async (): Promise<void> => {
      const job = await world.dispatch(newer);
      const claimed = job && (await world.claim(job));
      if (claimed) await world.end(claimed);
    };
    await Promise.all([
      run(),
      retired.moveOn(null),
      submit(),
      run(),
      retired.moveOn(null),
      submit(),
      run(),
      retired.moveOn(null),
      run(),
    ]);
    while ((await retired.moveOn(null)) > 0);
    expect(await miscounts()).toEqual([]);
    const left = await test.database.models.job.count({ where: { poolId: newer, delivery: { not: 'done' } } });
    const all = await test.database.models.job.count();
    expect([left, all]).toEqual([0, 16]);
    expect(await test.database.models.job.count({ where: { poolId: older } })).toBeGreaterThan(0);
  });
});
