import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import { JobStore } from './job.store';

let test: TestDatabase;
beforeAll(async () => (test = await createTestDatabase()));
afterAll(() => test.drop());

it('a job is read with the transitions after one, in order, the last of which made it what it is', async () => {
  const jobs = await CreditJobs.make(test);
  const { scope } = jobs;
  await jobs.submit(0n, 0n);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  const since = (seq: number) => new JobStore().findSince(test.database, scope, claimed.jobId, seq);
  const running = await since(1);
  expect(running?.transitions).toEqual([{ seq: 2, status: 'running', at: running?.job.startedAt }]);
  await jobs.end(claimed, 0, 'succeeded');
  const ended = await since(1);
  expect(ended?.transitions.map(({ seq, status }) => [seq, status])).toEqual([
    [2, 'running'],
    [3, 'succeeded'],
  ]);
  expect(ended?.job).toMatchObject({ seq: 3, status: 'succeeded' });
  expect((await since(3))?.transitions).toEqual([]);
});

it('a job of another account is not found with its transitions either', async () => {
  const [one, other] = [await CreditJobs.make(test), await CreditJobs.make(test)];
  await one.submit(0n, 0n);
  const claimed = await one.start();
  if (claimed === null) throw new Error('nothing was claimed');
  expect(await new JobStore().findSince(test.database, other.scope, claimed.jobId, 0)).toBeNull();
});
