import { newId } from '@millrace/contracts';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { giveUpAttempt, handBackAttempt } from '../lifecycle/release.store';
import { findAttempts } from './job-attempt.store';
import { describeAttempts } from './job-attempts';

let test: TestDatabase;
beforeAll(async () => (test = await createTestDatabase()));
afterAll(() => test.drop());

it('the attempts of a job are read in order, with how each ended, and what of them was charged', async () => {
  const jobs = new JobWorld(test);
  const job = await jobs.submit();
  const scope = { accountId: job.accountId, surface: 'cloud', deploymentId: null, labels: null } as const;
  const read = async (): Promise<unknown[]> => {
    const row = await findAttempts(test.database, scope, job.id);
    if (row === null) throw new Error('the job is not found');
    return describeAttempts(row).map(({ number, outcome, engineMs, charge }) => [number, outcome, engineMs, charge]);
  };
  expect(await read()).toEqual([]);

  await handBackAttempt(test.database, await jobs.start(job));
  const second = await jobs.start(job);
  expect(await read()).toEqual([
    [1, 'handed_back', null, 'not_charged'],
    [2, null, null, null],
  ]);
  await giveUpAttempt(test.database, second, 0);
  const third = await jobs.start(job);
  await jobs.claimedSecondsAgo(job.id, 60);
  await jobs.end(third, endingOf('succeeded', { engineMs: 2_000 }));
  expect(await read()).toEqual([
    [1, 'handed_back', null, 'not_charged'],
    [2, 'lost', null, 'not_charged'],
    [3, 'succeeded', 2_000, 'charged'],
  ]);

  const other = { ...scope, accountId: newId() };
  expect(await findAttempts(test.database, other, job.id)).toBeNull();
  expect(await findAttempts(test.database, { ...scope, surface: 'self_hosted' }, job.id)).toBeNull();
});
