import type { Statements } from '@millrace/database';
import type { ReadJobs } from '@millrace/webhooks';
import type { JobRecord } from '../state';
import type { JobPresenter } from './job.presenter';
import type { JobStore } from './job.store';

/**
 * Reads jobs for messages to their accounts: as a poll answers them, without the captured log, which has a link. Messages about one job to several
 * endpoints share what is read and made of it.
 */
export class WebhookJobs {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<JobStore, 'findEach'>,
    private readonly presenter: JobPresenter,
  ) {}

  readonly read: ReadJobs = async (asked) => {
    const once = [...new Map(asked.map((one) => [`${one.accountId} ${one.jobId}`, one])).values()];
    const found = new Map((await this.store.findEach(this.database, once)).map((job) => [job.id, job]));
    const presented = new Map<string, object>();
    return asked.map(({ jobId, origin }) => {
      const job = found.get(jobId);
      if (job === undefined) return null;
      const key = `${jobId} ${origin}`;
      const shown = presented.get(key) ?? this.present(job, origin);
      presented.set(key, shown);
      return shown;
    });
  };

  private present(job: JobRecord, origin: string): object {
    const prefix = job.deploymentId === null ? '' : `/deployment/${job.deploymentId}`;
    return this.presenter.present({ surface: { kind: job.surface, prefix, origin }, demo: false }, job, null);
  }
}
