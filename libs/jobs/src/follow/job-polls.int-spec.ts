import type { Progress } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import type { ClaimedAttempt, JobScope } from '../state/job';
import { JobPolls } from './job-polls.service';
import { JobReads } from './job-reads.service';
import { JobStore } from './job.store';
import { QueueEndsStore } from './queue-ends.store';
import { QueueRanks } from './queue-ranks';
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

function readsThatShow(read: () => Promise<Progress | null>): JobReads {
  const estimates = new QueueEstimates(test.database, new AccountQueueStore(), new WorkerStore());
  const ranks = new QueueRanks(test.database, new QueueEndsStore());
  return new JobReads(test.database, new JobStore(), estimates, ranks, liveThatShows(read));
}

const liveThatShows = (read: () => Promise<Progress | null>): ConstructorParameters<typeof JobPolls>[1] => ({
  progress: async (ids) => Promise.all(ids.map(read)),
});

function pollsThatShow(read: () => Promise<Progress | null>): JobPolls {
  return new JobPolls(readsThatShow(read), liveThatShows(read));
}

describe('a running job that is polled', () => {
  it('has the progress that its stream shows', async () => {
    const claimed = await startOne();
    const shown: Progress = { value: 0.9, nodes_done: 0, nodes_total: 1 };
    const { job } = await pollsThatShow(() => Promise.resolve(shown)).read(scope, claimed.jobId);
    expect(job).toMatchObject({ status: 'running', progress: shown });
  });

  it('shows no less between two attempts than before its worker was lost, when Postgres holds what the last heartbeat said', async () => {
    const claimed = await startOne();
    const shown: Progress = { value: 0.9, nodes_done: 0, nodes_total: 1 };
    const polls = pollsThatShow(() => Promise.resolve(shown));
    await polls.read(scope, claimed.jobId);
    await jobs.lose(claimed);
    expect((await polls.read(scope, claimed.jobId)).job).toMatchObject({
      status: 'running',
      delivery: 'waiting',
      progress: shown,
    });
    const { progress } = await polls.version(scope, claimed.jobId);
    expect(progress).toEqual(shown);
  });

  it('has it in lists, too', async () => {
    const claimed = await startOne();
    const shown: Progress = { value: 0.9, nodes_done: 0, nodes_total: 1 };
    const page = { cursor: null, status: null, metadata: {}, limit: 10, createdAfter: null, createdBefore: null };
    const { jobs: listed } = await readsThatShow(() => Promise.resolve(shown)).list(scope, page);
    expect(listed.filter(({ id }) => id === claimed.jobId)).toMatchObject([{ progress: shown }]);
    expect(listed.filter(({ status }) => status !== 'running').every(({ progress }) => progress === null)).toBe(true);
  });

  it('and ends while it is read has ended in the answer, not with what Postgres held before', async () => {
    const claimed = await startOne();
    const polls = pollsThatShow(async () => {
      await jobs.end(claimed, 0, 'succeeded');
      return null;
    });
    expect((await polls.read(scope, claimed.jobId)).job).toMatchObject({ status: 'succeeded' });
  });
});
