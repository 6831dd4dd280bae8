import type { Statements } from '@millrace/database';
import type { ReadJobs } from '@millrace/webhooks';
import type { JobPresenter } from './job.presenter';
import type { JobStore } from './job.store';

/** Reads jobs for messages to their accounts: as a poll answers them, without the captured log, which has a link. */
export class WebhookJobs {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<JobStore, 'findEach'>,
    private readonly presenter: JobPresenter,
  ) {}

  readonly read: ReadJobs = async (asked) => {
    const found = new Map((await this.store.findEach(this.database, asked)).map((job) => [job.id, job]));
    return asked.map(({ jobId, origin }) => {
      const job = found.get(jobId);
      if (job === undefined) return null;
      const prefix = job.deploymentId === null ? '' : `/deployment/${job.deploymentId}`;
      return this.presenter.present({ surface: { kind: job.surface, prefix, origin }, demo: false }, job, null);
    });
  };
}
