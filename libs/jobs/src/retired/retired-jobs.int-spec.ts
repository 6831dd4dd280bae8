import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { resumePaused, retryJob } from '../lifecycle/retry.store';
import { TurnStore } from '../rotation';
import { ONE_TURN } from '../rotation/turn.store';
import { RetiredJobs } from './retired-jobs.service';
import { RetiredPoolStore } from './retired-pool.store';

/** Of a version without a price of its own; jobs of tests are accepted at the same. */
const PRICE = 1_000n;

let test: TestDatabase;
let world: JobWorld;
let dispatched: string[];
let retired: RetiredJobs;
beforeEach(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
  dispatched = [];
  retired = new RetiredJobs(test.database, new RetiredPoolStore(PRICE), (poolId) => dispatched.push(poolId));
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

/** What versions cost: the pool that stays, and the newer one that jobs were accepted on. */
async function priced(dear: bigint | null, movedByOperator = false): Promise<TwoVersions> {
  const versions = await twoVersions(0);
  await test.database.models.deployment.update({
    where: { id: versions.id },
    data: { priceMicrosPerSecond: dear },
  });
  await test.database.models.deploymentVersion.updateMany({
    where: { deploymentId: versions.id },
    data: { movedByOperator },
  });
  return versions;
}
/** Run the next job of a pool for 20 s. @returns what it was charged. */
async function chargedFor20Seconds(poolId: string): Promise<bigint | null | undefined> {
  const claimed = await world.start({ poolId });
  await world.claimedSecondsAgo(claimed.jobId, 60);
  await world.beat(claimed, 10_000);
  return (await world.end(claimed, endingOf('succeeded', { engineMs: 20_000 })))?.chargedMicros;
}
const findings = async (): Promise<unknown[]> => {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) found.push(finding);
  return found;
};
const CHEAP = { priceMicrosPerSecond: 10n, holdMicros: 6_000n };

describe('what jobs of a version out of use cost where they run instead', () => {
  it('is the price there, when their account rolled back: each time again, and their holds grow with it', async () => {
    const { older, newer } = await priced(900n);
    const { accountId } = await world.submit({ poolId: newer, ...CHEAP });
    expect(await retired.moveOn(null)).toBe(1);
    expect(await chargedFor20Seconds(older)).toBe(18_000n);
    for (let round = 0; round < 2; round += 1) {
      await world.submit({ poolId: newer, accountId, ...CHEAP });
      expect(await retired.moveOn(null)).toBe(1);
      expect(await chargedFor20Seconds(older)).toBe(18_000n);
    }
    expect(await findings()).toEqual([]);
  });

  it('is the price of the platform where that version has none of its own', async () => {
    const { older, newer } = await priced(null);
    await world.submit({ poolId: newer, ...CHEAP });
    expect(await retired.moveOn(null)).toBe(1);
    expect(await chargedFor20Seconds(older)).toBe(20_000n);
  });

  it.each([
    ['dearer', 900n, 200n],
    ['cheaper', 4n, 80n],
  ])(
    'is never more than was agreed when an operator took it out of use, where the other one is %s',
    async (_how, price, charged) => {
      const { older, newer } = await priced(price, true);
      await world.submit({ poolId: newer, ...CHEAP });
      expect(await retired.moveOn(null)).toBe(1);
      expect(await chargedFor20Seconds(older)).toBe(charged);
    },
  );

  it('is never more than their submission allowed', async () => {
    const { older, newer } = await priced(900n);
    await world.submit({ poolId: newer, ...CHEAP, spendLimitMicros: 7_000n });
    expect(await retired.moveOn(null)).toBe(1);
    const claimed = await world.start({ poolId: older });
    await world.claimedSecondsAgo(claimed.jobId, 60);
    expect((await world.beat(claimed, 10_000))?.exhausted).toBe(true);
    expect((await world.end(claimed, endingOf('succeeded', { engineMs: 20_000 })))?.chargedMicros).toBe(7_000n);
    expect(await findings()).toEqual([]);
  });

  it('has one price: those of which something is billed run where they were, unless the price is the same', async () => {
    const { id, older, newer } = await priced(900n);
    const retry = { max: 1, on: ['node_execution_error' as const], pause_seconds: 0 };
    const { id: jobId } = await world.submit({ poolId: newer, ...CHEAP, retry });
    const first = await world.start({ poolId: newer });
    await world.claimedSecondsAgo(jobId, 60);
    await retryJob(test.database, { kind: 'fence', fence: first }, endingOf('node_failed', { engineMs: 20_000 }));
    await test.database.execute(Prisma.sql`UPDATE jobs SET retry_at = now() WHERE id = ${jobId}::uuid`);
    await resumePaused(test.database, [jobId]);
    expect([await retired.moveOn(null), await poolOf(jobId)]).toEqual([0, newer]);
    await test.database.models.deployment.update({ where: { id }, data: { priceMicrosPerSecond: 10n } });
    expect([await retired.moveOn(null), await poolOf(jobId)]).toEqual([1, older]);
    expect(await chargedFor20Seconds(older)).toBe(400n);
    expect(await findings()).toEqual([]);
  });

  it('is nothing for those that were accepted for nothing: no cap counts them, so they run where they were', async () => {
    const { newer } = await priced(900n);
    const free = await world.submit({ poolId: newer, priceMicrosPerSecond: 0n, holdMicros: 0n });
    expect([await retired.moveOn(null), await poolOf(free.id)]).toEqual([0, newer]);
    expect(await chargedFor20Seconds(newer)).toBe(0n);
  });

  it('is what was agreed for those that could not move, once the operator has retired their class: nothing else would run them', async () => {
    const { older, newer } = await priced(900n);
    const lost = await world.submit({ poolId: newer, ...CHEAP });
    await test.database.execute(Prisma.sql`UPDATE jobs SET lost_engine_ms = 1 WHERE id = ${lost.id}::uuid`);
    const free = await world.submit({ poolId: newer, priceMicrosPerSecond: 0n, holdMicros: 0n });
    const usual = await world.submit({ poolId: newer, ...CHEAP });
    const ids = [lost.id, free.id, usual.id];
    expect([await retired.moveOn(null), await Promise.all(ids.map(poolOf))]).toEqual([1, [newer, newer, older]]);
    await test.database.models.engineClass.create({
      data: { name: 'cpu', spec: {}, revision: 'a test', retiredAt: new Date() },
    });
    expect([await retired.moveOn(null), await Promise.all(ids.map(poolOf))]).toEqual([2, [older, older, older]]);
    const prices = await test.database.models.job.findMany({ where: { id: { in: ids } }, orderBy: { id: 'asc' } });
    expect(prices.map(({ priceMicrosPerSecond }) => priceMicrosPerSecond)).toEqual([10n, 0n, 900n]);
    expect([await findings(), await miscounts()]).toEqual([[], []]);
  });
});

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
