import type { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { JobWorld, cloudScope, type TestDraft } from '../fixtures/job-world';
import { waitingOf } from './job-standing';
import { findStanding } from './job-standing.store';

let test: TestDatabase;
let jobs: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  jobs = new JobWorld(test);
});
afterAll(() => test.drop());

/** The code and the message of what a job waits for; null where it does not wait. */
async function waiting({ id, accountId, surface, deploymentId }: TestDraft): Promise<[string, string] | null> {
  const row = await findStanding(test.database, { accountId, surface, deploymentId, labels: null }, id);
  if (row === null) throw new Error('the job is not found');
  const found = waitingOf(row, true);
  return found === null ? null : [found.code, found.message];
}

/** However long a test takes, its workers are not silent. */
const alive = (): { lastSeenAt: Date } => ({ lastSeenAt: new Date(Date.now() + 600_000) });

/** Change the one worker of a pool. */
async function change(poolId: string, data: Prisma.WorkerUpdateManyMutationInput): Promise<void> {
  await test.database.models.worker.updateMany({ where: { poolId }, data });
}

it('a job waits for a worker, then for its turn, and no more when one has it', async () => {
  const job = await jobs.submit();
  const { poolId } = job;
  await change(poolId, { lastSeenAt: new Date(0) });
  expect((await waiting(job))?.[0]).toBe('no_workers');
  await change(poolId, { state: 'starting', problem: 'the engine loads', ...alive() });
  expect(await waiting(job)).toEqual(['workers_starting', 'No worker is ready yet: the engine loads.']);
  await change(poolId, { state: 'ready', problem: null });
  expect(await waiting(job)).toEqual(['workers_busy', expect.stringContaining('turn')]);

  const dispatched = await jobs.dispatch(poolId);
  expect(await waiting(job)).toEqual(['workers_busy', expect.stringContaining('next')]);
  await test.database.models.job.update({ where: { id: job.id }, data: { dispatchedAt: null } });
  expect((await waiting(job))?.[0]).toBe('workers_without_room');
  await test.database.models.job.update({ where: { id: job.id }, data: { dispatchedAt: new Date() } });
  if (dispatched === null || (await jobs.claim(dispatched)) === null) throw new Error('nothing was claimed');
  expect(await waiting(job)).toBeNull();
});

it('a job waits for others of its account, as many as may run', async () => {
  const first = await jobs.submit({ runningLimit: 1 });
  const { poolId, accountId } = first;
  await change(poolId, alive());
  const second = await jobs.submit({ runningLimit: 1, poolId, accountId });
  await jobs.start(first);
  expect((await waiting(second))?.[0]).toBe('running_limit');
});

it('a job waits for its deployment: for its fleet, which says why, and while it is stopped', async () => {
  const { deployment, fleetGroup } = test.database.models;
  const accountId = await makeAccount(test.database, { micros: 1_000_000n });
  const deploymentId = newId();
  const job = await jobs.draft({ accountId, deploymentId, surface: 'deployment' });
  const { poolId } = job;
  await change(poolId, { lastSeenAt: new Date(0) });
  await deployment.create({ data: { id: deploymentId, accountId, name: 'a deployment', poolId } });
  await jobs.submissions.record(test.database, job);
  const reason = 'starting 1 of 1 workers: 0/1 nodes have the GPU';
  await fleetGroup.create({ data: { poolId, wanted: 1, running: 0, phase: 'starting', reason } });
  expect(await waiting(job)).toEqual(['workers_starting', `No worker is ready yet: ${reason}.`]);
  await fleetGroup.update({ where: { poolId }, data: { phase: 'idle', reason: null } });
  expect((await waiting(job))?.[0]).toBe('no_workers');
  await deployment.update({ where: { id: deploymentId }, data: { desiredState: 'stopped' } });
  expect((await waiting(job))?.[0]).toBe('deployment_stopped');
});

it('is not shown to others', async () => {
  const { id } = await jobs.submit();
  expect(await findStanding(test.database, cloudScope(newId()), id)).toBeNull();
});
