import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import { Metrics } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { JobStore } from '../follow/job.store';
import { endJob } from '../lifecycle/end.store';
import { keepLog } from '../lifecycle/log.store';
import { handBackAttempt, recallFromStopped } from '../lifecycle/release.store';
import { MeasureQueuesLoop } from '../rotation/measure-queues.loop';
import { QueueDepthStore, pendingJobs } from '../rotation/queue-depth.store';
import type { JobScope } from '../state/job';

const reads = new JobStore();
const depths = new QueueDepthStore();

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test, { priceMicrosPerSecond: 0n, holdMicros: 0n });
});
afterAll(() => test.drop());

interface Place extends JobScope {
  poolId: string;
  deploymentId: string;
}

/** A deployment with one live worker. */
async function makeDeployment(): Promise<Place> {
  const accountId = await makeAccount(test.database);
  const { poolId } = await makePool(test.database);
  const deploymentId = newId();
  await test.database.models.deployment.create({ data: { id: deploymentId, accountId, name: 'a test', poolId } });
  return { accountId, surface: 'deployment', deploymentId, labels: null, poolId };
}

const submit = async (place: Omit<Place, 'deploymentId'> & { deploymentId: string | null }): Promise<string> =>
  (await world.submit(place)).id;
const cancel = (scope: JobScope, jobId: string): Promise<unknown> =>
  endJob(test.database, { kind: 'queued', scope, jobId }, endingOf('canceled_while_queued'));
const lost = endingOf('attempts_used_up');

const logsOf = async (place: Place, id: string): Promise<unknown> =>
  (await reads.findAsked(test.database, [{ scope: place, id, withLogs: true }]))[0]?.logs;

const stop = ({ deploymentId: id }: Place): Promise<unknown> =>
  test.database.models.deployment.update({ where: { id }, data: { desiredState: 'stopped' } });

describe('the log of a job of a deployment', () => {
  it('is there whole when its worker reported the end, and stands in place of what was kept meanwhile', async () => {
    const place = await makeDeployment();
    const id = await submit(place);
    const attempt = await world.start(place);
    await keepLog(test.database, attempt, { text: 'half', truncated: false });
    expect(await logsOf(place, id)).toBeNull();
    const log = { text: 'half and half', truncated: true };
    await world.end(attempt, endingOf('succeeded', { log }));
    const whole = { text: 'half and half', truncated: true, complete: true, capturedAt: expect.any(Date) as Date };
    expect(await logsOf(place, id)).toEqual(whole);
    await keepLog(test.database, attempt, { text: 'late', truncated: false });
    expect(await logsOf(place, id)).toEqual(whole);
  });

  it('is what was kept of it when its worker is lost', async () => {
    const place = await makeDeployment();
    const id = await submit(place);
    const attempt = await world.start(place);
    await keepLog(test.database, attempt, { text: 'before the end', truncated: false });
    await world.end(attempt, lost);
    expect(await logsOf(place, id)).toMatchObject({ text: 'before the end', complete: false });
  });

  it('is empty and not whole when nothing was kept, and may still come from its worker', async () => {
    const place = await makeDeployment();
    const id = await submit(place);
    const attempt = await world.start(place);
    await world.end(attempt, endingOf('deadline_passed'));
    expect(await logsOf(place, id)).toMatchObject({ text: '', truncated: false, complete: false });
    await keepLog(test.database, attempt, { text: 'late', truncated: false });
    expect(await logsOf(place, id)).toMatchObject({ text: 'late', complete: false });
  });

  it('is empty and whole for a job that never ran', async () => {
    const place = await makeDeployment();
    const id = await submit(place);
    await cancel(place, id);
    expect(await logsOf(place, id)).toMatchObject({ text: '', truncated: false, complete: true });
  });

  it('is not written by an attempt that is over when another has begun', async () => {
    const place = await makeDeployment();
    const id = await submit(place);
    const first = await world.start(place);
    await handBackAttempt(test.database, first);
    const second = await world.start(place);
    await keepLog(test.database, first, { text: 'of the first', truncated: false });
    await world.end(second, lost);
    expect(await logsOf(place, id)).toMatchObject({ text: '', complete: false });
  });

  it('goes with its job', async () => {
    const place = await makeDeployment();
    const id = await submit(place);
    await cancel(place, id);
    await test.database.models.job.delete({ where: { id } });
    expect(await test.database.models.jobLog.count({ where: { jobId: id } })).toBe(0);
  });

  it('is kept on no other surface', async () => {
    const { poolId, accountId } = await makeDeployment();
    const place = { accountId, poolId, surface: 'cloud', deploymentId: null, labels: null } as const;
    const id = await submit(place);
    await cancel(place, id);
    expect(await test.database.models.jobLog.count({ where: { jobId: id } })).toBe(0);
  });
});

describe('stopping a deployment', () => {
  it('leaves no room for jobs, and takes back what no worker has claimed', async () => {
    const place = await makeDeployment();
    const ids = [await submit(place), await submit(place), await submit(place)];
    const running = await world.start(place);
    await world.dispatch(place.poolId);
    const { poolId, accountId } = place;
    const queue = async (): Promise<unknown> =>
      test.database.models.accountQueue.findUnique({ where: { poolId_accountId: { poolId, accountId } } });
    expect(await queue()).toMatchObject({ waiting: 1, inFlight: 2 });
    expect(await recallFromStopped(test.database)).toBe(0);
    await stop(place);
    expect(await new WorkerStore().room(test.database, place.poolId, null)).toBe(0);
    expect(await recallFromStopped(test.database)).toBe(1);
    expect(await queue()).toMatchObject({ waiting: 2, inFlight: 1 });
    const rows = await test.database.models.job.findMany({ where: { id: { in: ids } } });
    expect(rows.map(({ delivery }) => delivery).sort()).toEqual(['leased', 'waiting', 'waiting']);
    const end = await world.end(running);
    expect(end?.status).toBe('succeeded');
  });

  it('and claiming at once leave each job with a worker or waiting, and the counters right', async () => {
    const place = await makeDeployment();
    for (let i = 0; i < 8; i += 1) await submit(place);
    const dispatched = await Promise.all(
      Array.from({ length: 8 }, () => eventually('a turn', () => world.dispatch(place.poolId))),
    );
    await stop(place);
    const claims = dispatched.map((one) => world.claim(one));
    const [recalled] = await Promise.all([recallFromStopped(test.database), ...claims]);
    const again = await recallFromStopped(test.database);
    const leased = await test.database.models.job.count({ where: { poolId: place.poolId, delivery: 'leased' } });
    const waiting = await test.database.models.job.count({ where: { poolId: place.poolId, delivery: 'waiting' } });
    expect(leased + waiting).toBe(8);
    expect(waiting).toBe(recalled + again);
    const queue = await test.database.models.accountQueue.findFirstOrThrow({ where: { poolId: place.poolId } });
    expect(queue).toMatchObject({ waiting, inFlight: leased });
  });
});

describe('the measure of a pool', () => {
  const depthOf = async ({ poolId }: Place): ReturnType<QueueDepthStore['measure']> =>
    (await depths.measure(test.database)).filter((depth) => depth.poolId === poolId);

  it('counts what waits, what is in the lane and what runs, and how long the first has waited', async () => {
    const place = await makeDeployment();
    for (let i = 0; i < 4; i += 1) await submit(place);
    await world.start(place);
    await world.dispatch(place.poolId);
    const [depth] = await depthOf(place);
    expect(depth).toMatchObject({ waiting: 2, dispatched: 1, leased: 1, stopped: false, wanted: false });
    expect(depth?.oldestSeconds).toBeGreaterThan(0);
    expect(depth && pendingJobs(depth)).toBe(4);
  });

  it('asks for workers for as many jobs of an account as it may have running, and shows all that wait', async () => {
    const place = await makeDeployment();
    for (let i = 0; i < 5; i += 1) await submit(place);
    const limit = (runningLimit: number): Promise<unknown> =>
      test.database.models.accountQueue.updateMany({ where: { poolId: place.poolId }, data: { runningLimit } });
    const measured = async (): Promise<[number, number][]> =>
      (await depthOf(place)).map((depth) => [depth.waiting, pendingJobs(depth)]);
    await limit(1);
    expect(await measured()).toEqual([[5, 1]]);
    await limit(2);
    await world.start(place);
    await world.dispatch(place.poolId);
    expect(await measured()).toEqual([[3, 2]]);
    await limit(1);
    expect(await measured()).toEqual([[3, 2]]);
    await limit(4);
    expect(await measured()).toEqual([[3, 4]]);
  });

  it('counts the wait of a job that is in the lane, and no worker takes', async () => {
    const place = await makeDeployment();
    await submit(place);
    const twentyMinutesAgo = new Date(Date.now() - 20 * 60_000);
    await test.database.models.job.updateMany({
      where: { poolId: place.poolId },
      data: { createdAt: twentyMinutesAgo },
    });
    const sent = await world.dispatch(place.poolId);
    const [dispatched] = await depthOf(place);
    expect(dispatched).toMatchObject({ waiting: 0, dispatched: 1, leased: 0 });
    expect(dispatched?.oldestSeconds).toBeGreaterThan(15 * 60);
    if (sent !== null) await world.claim(sent);
    expect(await depthOf(place)).toMatchObject([{ dispatched: 0, leased: 1, oldestSeconds: 0 }]);
  });

  it('does not count what waits for jobs of its own account, which is at its running limit', async () => {
    const place = await makeDeployment();
    const waits = async (): Promise<number> => (await depthOf(place))[0]?.oldestSeconds ?? 0;
    const limit = (runningLimit: number): Promise<unknown> =>
      test.database.models.accountQueue.updateMany({ where: { poolId: place.poolId }, data: { runningLimit } });
    for (let i = 0; i < 3; i += 1) await submit(place);
    const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);
    await test.database.models.job.updateMany({ where: { poolId: place.poolId }, data: { createdAt: ago(20) } });
    await world.start(place);
    await limit(1);
    expect(await depthOf(place)).toMatchObject([{ waiting: 2, leased: 1, oldestSeconds: 0 }]);
    await limit(2);
    expect(await waits()).toBeGreaterThan(15 * 60);
    // One that may run waits for a worker from then on.
    await world.dispatch(place.poolId);
    expect(await depthOf(place)).toMatchObject([{ waiting: 1, dispatched: 1, leased: 1 }]);
    expect(await waits()).toBeLessThan(5 * 60);
    await test.database.models.job.updateMany({
      where: { poolId: place.poolId, delivery: 'dispatched' },
      data: { dispatchedAt: ago(16) },
    });
    expect(await waits()).toBeGreaterThan(15 * 60);
    // One that no worker could take is set aside, and waits for a worker as before.
    await test.database.models.job.updateMany({
      where: { poolId: place.poolId, delivery: 'dispatched' },
      data: { dispatchedAt: null },
    });
    expect(await waits()).toBeGreaterThan(15 * 60);
  });

  it('counts the wait of a job that was handed back from the end of its attempt on, waiting or in the lane', async () => {
    const place = await makeDeployment();
    const id = await submit(place);
    await test.database.models.job.update({ where: { id }, data: { createdAt: new Date(Date.now() - 3 * 3_600_000) } });
    await handBackAttempt(test.database, await world.start(place));
    await test.database.execute(Prisma.sql`
      UPDATE job_attempts SET ended_at = now() - interval '2 min' WHERE job_id = ${id}::uuid`);
    const waits = async (): Promise<number> => (await depthOf(place))[0]?.oldestSeconds ?? 0;
    for (const dispatch of [() => null, () => world.dispatch(place.poolId)]) {
      await dispatch();
      expect(await waits()).toBeGreaterThanOrEqual(120);
      expect(await waits()).toBeLessThan(600);
    }
  });

  it('shows a pool that has lost no lease, so that its first loss counts as one more', async () => {
    const place = await makeDeployment();
    const metrics = new Metrics('maintenance');
    const measure = new MeasureQueuesLoop(test.database, depths, metrics);
    const line = (losses: number): string =>
      `millrace_lease_losses_total{pool="${place.poolId}",role="maintenance"} ${losses}`;
    await measure.runOnce();
    expect(await metrics.registry.metrics()).toContain(line(0));
    metrics.leaseLosses.inc({ pool: place.poolId });
    await measure.runOnce();
    expect(await metrics.registry.metrics()).toContain(line(1));
  });

  it('shows no queue of a pool any more whose deployment is deleted, once its jobs are over', async () => {
    const place = await makeDeployment();
    const metrics = new Metrics('maintenance');
    const measure = new MeasureQueuesLoop(test.database, depths, metrics);
    const shown = async (): Promise<boolean> => {
      await measure.runOnce();
      return (await metrics.registry.metrics()).includes(`millrace_queue_depth{pool="${place.poolId}"`);
    };
    const id = await submit(place);
    await test.database.models.deployment.update({
      where: { id: place.deploymentId },
      data: { deletedAt: new Date() },
    });
    expect(await shown()).toBe(true);
    await cancel(place, id);
    expect(await shown()).toBe(false);
  });

  it('asks for a worker where an idle deployment is wanted, and only for what runs where it is stopped', async () => {
    const place = await makeDeployment();
    const pending = async (): Promise<number[]> => (await depthOf(place)).map(pendingJobs);
    const setStatus = (status: string): Promise<unknown> =>
      test.database.models.account.update({ where: { id: place.accountId }, data: { status } });
    expect(await pending()).toEqual([0]);
    await test.database.models.deployment.update({
      where: { id: place.deploymentId },
      data: { wantedAt: new Date() },
    });
    expect(await pending()).toEqual([1]);
    await setStatus('suspended');
    expect(await pending()).toEqual([0]);
    await setStatus('active');
    await submit(place);
    await submit(place);
    await world.start(place);
    expect(await pending()).toEqual([2]);
    await stop(place);
    expect(await pending()).toEqual([1]);
  });

  it('is exported by pool, and not at all while it cannot be taken', async () => {
    const place = await makeDeployment();
    await submit(place);
    const metrics = new Metrics('maintenance');
    await new MeasureQueuesLoop(test.database, depths, metrics).runOnce();
    const line = `millrace_pool_pending_jobs{pool="${place.poolId}",role="maintenance"} 1`;
    expect(await metrics.registry.metrics()).toContain(line);
    const broken = { ...test.database, models: test.database.models, execute: fail, query: fail, rows: fail };
    await expect(new MeasureQueuesLoop(broken, depths, metrics).runOnce()).rejects.toThrow('away');
    expect(await metrics.registry.metrics()).not.toContain(`millrace_pool_pending_jobs{pool="${place.poolId}"`);
  });
});

function fail(): Promise<never> {
  return Promise.reject(new Error('the database is away'));
}
