import type { Progress } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import type { ClaimedAttempt, JobScope } from '../state/job';
import { JobReads } from './job-reads.service';
import { JobStore } from './job.store';
import { AccountQueueStore } from '../rotation/account-queue.store';
import { QueueEstimates } from '../rotation/queue-estimates';

let test: TestDatabase;
let jobs: CreditJobs;
let scope: JobScope;
beforeAll(async () => {
  test = await createTestDatabase();
  jobs = await CreditJobs.make(test);
  ({ scope } = jobs);
});
afterAll(() => test.drop());

async function startOne(): Promise<ClaimedAttempt> {
  await jobs.submit(0n, 0n);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  return claimed;
}

function readsThatShow(progress: () => Promise<Progress | null>): JobReads {
  const estimates = new QueueEstimates(test.database, new AccountQueueStore(), new WorkerStore());
  return new JobReads(test.database, new JobStore(), estimates, { progress });
}

describe('a running job that is polled', () => {
  it('has the progress that its stream shows', async () => {
    const claimed = await startOne();
    const shown: Progress = { value: 0.9, nodes_done: 0, nodes_total: 1 };
    const job = await readsThatShow(() => Promise.resolve(shown)).getLive(scope, claimed.jobId);
    expect(job).toMatchObject({ status: 'running', progress: shown });
  });

  it('and ends while it is read has ended in the answer, not with what Postgres held before', async () => {
    const claimed = await startOne();
    const reads = readsThatShow(async () => {
      await jobs.end(claimed, 0, 'succeeded');
      return null;
    });
    expect(await reads.getLive(scope, claimed.jobId)).toMatchObject({ status: 'succeeded' });
  });
});
