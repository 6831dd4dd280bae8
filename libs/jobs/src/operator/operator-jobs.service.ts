import { Refusal, isTerminal, type JobStatus } from '@millrace/contracts';
import type { Caller } from '@millrace/accounts';
import type { Statements } from '@millrace/database';
import type { Target } from '@millrace/deployments';
import type { Lifecycle } from '../lifecycle';
import type { MovedJob } from '../state';
import type { AcceptedJob, RecordWithin, SubmissionService } from '../submission';
import type { OperatorJob, OperatorJobStore } from './operator-job.store';

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

  /** @throws Refusal `invalid_request` when a job cannot be run again. */
  assertRedrivable({ id, status, hasSecrets }: OperatorJob): void {
    if (!isTerminal(status)) {
      throw new Refusal('invalid_request', `Job ${id} is ${status}; only a job that has ended is run again.`);
    }
    if (hasSecrets) {
      const message = `Job ${id} was given credentials for one run, which are kept nowhere; its owner must submit it again.`;
      throw new Refusal('invalid_request', message);
    }
  }

  /**
   * Run an ended job's graph again, as a new job of its account: an end is an end.
   *
   * @param caller the account, and the key that the first job came with.
   * @param within the transaction of the caller's audit record.
   * @throws Refusal as a submission does.
   */
  async redrive(
    job: OperatorJob,
    caller: Caller,
    target: () => Promise<Target>,
    within: RecordWithin,
  ): Promise<AcceptedJob> {
    const { accountId, surface, deploymentId } = job;
    return this.submissions.submit({
      caller,
      scope: { accountId, surface, deploymentId, labels: null },
      target,
      body: Buffer.from(`{"workflow":${job.workflow},"metadata":${JSON.stringify(job.metadata)}}`),
      idempotencyKey: undefined,
      traceparent: null,
      spendLimitMicros: job.spendLimitMicros ?? undefined,
      within,
    });
  }
}
