import { Prisma } from '@prisma/client';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobWorld, LEASE_SECONDS } from '../fixtures/job-world';
import { listLostJobs } from '../lifecycle/due-jobs.store';
import type { ClaimedAttempt } from '../state';
import { EndLeasesOfGoneWorkersLoop } from './end-leases-of-gone-workers.loop';
import { endLateLeases, listLateLeases } from './late-lease.store';

let test: TestDatabase;
let world: JobWorld;
beforeEach(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterEach(() => test.drop());

const started = async (): Promise<ClaimedAttempt> => world.start(await world.submit());

/** The lease lasts for so many seconds more. */
async function lasts(jobId: string, seconds: number): Promise<void> {
  await test.database.execute(Prisma.sql`
    UPDATE jobs SET lease_expires_at = now() + make_interval(secs => ${seconds}) WHERE id = ${jobId}::uuid`);
}

/** Every worker that is asked about is gone. @returns about whom was asked. */
function everybodyGone(): { asked: string[]; among: (ids: readonly string[]) => Promise<string[]> } {
  const asked: string[] = [];
  return {
    asked,
    among: async (ids) => {
      asked.push(...ids);
      return [...ids];
    },
  };
}

const loopWith = (among: (ids: readonly string[]) => Promise<string[]>): EndLeasesOfGoneWorkersLoop =>
  new EndLeasesOfGoneWorkersLoop(test.database, { among }, { leaseSeconds: LEASE_SECONDS });
const lost = async (): Promise<string[]> => (await listLostJobs(test.database, null, 100)).map(({ id }) => id);

it('ends the lease of a worker that is gone and has missed a heartbeat, and of no other', async () => {
  const [late, inTime] = [await started(), await started()];
  await lasts(late.jobId, LEASE_SECONDS / 2 - 0.1);
  await lasts(inTime.jobId, LEASE_SECONDS / 2 + 5);
  const { asked, among } = everybodyGone();
  expect(await loopWith(among).runOnce()).toBe(1);
  expect(asked).toHaveLength(1);
  expect(await lost()).toEqual([late.jobId]);
});

it('leaves the lease of a worker that is late and may be there', async () => {
  const late = await started();
  await lasts(late.jobId, 1);
  expect(await loopWith(async () => []).runOnce()).toBe(0);
  expect(await lost()).toEqual([]);
  expect(await world.beat(late)).toMatchObject({ status: 'running' });
});

it('leaves a lease that was renewed after it was found late', async () => {
  const late = await started();
  await lasts(late.jobId, 1);
  const leases = await listLateLeases(test.database, LEASE_SECONDS);
  await world.beat(late);
  expect(await endLateLeases(test.database, LEASE_SECONDS, leases)).toBe(0);
  expect(await lost()).toEqual([]);
});

it('leaves the lease of another claim', async () => {
  const late = await started();
  await lasts(late.jobId, 1);
  const [found] = await listLateLeases(test.database, LEASE_SECONDS);
  const stale = { jobId: late.jobId, leaseToken: '00000000-0000-4000-8000-000000000000' };
  expect(found).toMatchObject({ jobId: late.jobId });
  expect(await endLateLeases(test.database, LEASE_SECONDS, [stale])).toBe(0);
});

it('asks about nobody while every lease is renewed in time, and nothing where one has run out already', async () => {
  await started();
  const over = await started();
  await world.passLease(over.jobId);
  const { asked, among } = everybodyGone();
  expect(await loopWith(among).runOnce()).toBe(0);
  expect(asked).toEqual([]);
});

it('lets a worker that lives after all keep its attempt until somebody takes the job back', async () => {
  const late = await started();
  await lasts(late.jobId, 1);
  await loopWith(everybodyGone().among).runOnce();
  expect(await world.beat(late)).toMatchObject({ status: 'running' });
  expect(await lost()).toEqual([]);
});
