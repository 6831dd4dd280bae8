import { Refusal, isTerminal, type JobStatus } from '@millrace/contracts';
import type { Caller } from '@millrace/accounts';
import { KEY_REUSED, subjectOfKey, type Statements } from '@millrace/database';
import type { Target } from '@millrace/deployments';
import type { Lifecycle } from '../lifecycle';
import type { MovedJob } from '../state';
import type { RecordWithin, SubmissionService } from '../submission';
import type { OperatorJob, OperatorJobStore } from './operator-job.store';

/** What running an ended job again takes. */
export interface Redrive {
  /** Under which it is done once; undefined: each time that it is asked for. */
  idempotencyKey: string | undefined;
  /** The account, and the key that the first job came with. @throws Refusal where it may submit nothing now. */
  caller: (job: OperatorJob) => Promise<Caller>;
  target: (job: OperatorJob) => Promise<Target>;
  /** The transaction of the caller's audit record. */
  within: (job: OperatorJob) => RecordWithin;
}

/** The job that came of it. */
export interface RedrivenJob {
  id: string;
  accountId: string;
  status: JobStatus;
  /** An earlier request with the same key made it. */
  repeated: boolean;
}

/** What operators do to jobs of any account. It commits in the transaction of the caller, with the caller's audit record. */
export class OperatorJobs {
  constructor(
    private readonly database: Statements,
    private readonly store: OperatorJobStore,
    private readonly lifecycle: Lifecycle,
    private readonly submissions: SubmissionService,
  ) {}

  /** @throws Refusal `not_found`. */
  async get(id: string): Promise<OperatorJob> {
    const job = await this.store.find(this.database, id);
    if (job === null) throw new Refusal('not_found', `There is no job ${id}.`);
    return job;
  }

  /** Ask for a job's end, as its owner would. @returns what is to be announced when the transaction has committed. */
  async cancel(tx: Statements, { id, ...place }: OperatorJob): Promise<MovedJob[]> {
    return this.lifecycle.cancelIn(tx, { ...place, labels: null }, id);
  }

  /** Publish a committed cancellation. @returns the job's status now. */
  async announce(job: OperatorJob, moved: MovedJob[]): Promise<JobStatus> {
    this.lifecycle.announce(moved);
    return moved.at(-1)?.status ?? (await this.get(job.id)).status;
  }

  /**
   * Run an ended job's graph again, as a new job of its account, on the spend limit and the retry policy of the first: an end is an end. The key commits with the new job, so a repeat finds
   * that job, also where the first answer was lost, and where the job that ended has expired since.
   *
   * @throws Refusal `not_found`; `invalid_request` when it cannot be run again; `idempotency_key_reuse` when the job of the key is gone; as a
   * submission does.
   */
  async redrive(jobId: string, { idempotencyKey, caller, target, within }: Redrive): Promise<RedrivenJob> {
    const key = idempotencyKey === undefined ? undefined : claimedKeyOf(jobId, idempotencyKey);
    const found = await this.store.find(this.database, jobId);
    const earlier = await this.madeUnder(found, key);
    if (earlier !== null) return earlier;
    const job = found ?? (await this.get(jobId));
    const { accountId, surface, deploymentId } = job;
    assertRedrivable(job);
    const submission = {
      caller: await caller(job),
      scope: { accountId, surface, deploymentId, labels: null },
      target: () => target(job),
      body: Buffer.from(`{"workflow":${job.workflow},"metadata":${JSON.stringify(job.metadata)}}`),
      idempotencyKey: key,
      traceparent: null,
      spendLimitMicros: job.spendLimitMicros ?? undefined,
      spendLimitOf: { before: 'job' } as const,
      retry: job.retry,
      within: within(job),
    };
    try {
      const { id, status } = (await this.submissions.submit(submission)).job;
      return { id, accountId, status, repeated: false };
    } catch (error) {
      // The same request was first, at the same time.
      const made = error instanceof Refusal && error.code === KEY_REUSED ? await this.madeUnder(job, key) : null;
      if (made === null) throw error;
      return made;
    }
  }

  /** @param job that is to be run again; null: it is gone. */
  private async madeUnder(job: OperatorJob | null, key: string | undefined): Promise<RedrivenJob | null> {
    if (key === undefined) return null;
    const id = await this.subjectOf(job, key);
    if (id === null) return null;
    const made = await this.store.find(this.database, id);
    if (made !== null) return { id, accountId: made.accountId, status: made.status, repeated: true };
    const message = `This Idempotency-Key was used before; job ${id}, which it made, is not kept any more.`;
    throw new Refusal('idempotency_key_reuse', message);
  }

  private async subjectOf(job: OperatorJob | null, key: string): Promise<string | null> {
    if (job === null) return this.store.findSubject(this.database, key);
    return subjectOfKey(this.database, { accountId: job.accountId, operation: 'postJobs', key });
  }
}

/** Of one job, and none that its owner can present: a tab is no character of a key (`IDEMPOTENCY_KEY`). */
function claimedKeyOf(jobId: string, key: string): string {
  return `redrive\t${jobId}\t${key}`;
}

/** @throws Refusal `invalid_request` when a job cannot be run again. */
function assertRedrivable({ id, status, hasSecrets }: OperatorJob): void {
  if (!isTerminal(status)) {
    throw new Refusal('invalid_request', `Job ${id} is ${status}; only a job that has ended is run again.`);
  }
  if (hasSecrets) {
    const message = `Job ${id} was given credentials for one run, which are kept nowhere; its owner must submit it again.`;
    throw new Refusal('invalid_request', message);
  }
}
