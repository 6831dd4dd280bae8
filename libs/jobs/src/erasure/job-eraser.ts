import type { ErasureSubject } from '@millrace/contracts';
import { forgetKeys, type Database, type Statements } from '@millrace/database';
import type { LivePublisher } from '@millrace/messaging';
import type { LabelRuleStore } from '../labels';
import type { Lifecycle } from '../lifecycle';
import type { DeletedJobs, JobErasureStore } from './job-erasure.store';

/** Jobs that are canceled at a time; ends of one account's jobs wait for each other anyway. */
const CANCELED = 50;

/** What is to be erased by more than one job. */
export type ManyJobs = Exclude<ErasureSubject, { kind: 'job' }>;

/** Erases what this lib keeps: jobs, batches, and rules and counts of labels. */
export class JobEraser {
  constructor(
    private readonly database: Database,
    private readonly store: JobErasureStore,
    private readonly labels: LabelRuleStore,
    private readonly lifecycle: Pick<Lifecycle, 'cancel'>,
    private readonly live: Pick<LivePublisher, 'forget'>,
  ) {}

  /** Cancel some of the jobs that wait or run, each as if its owner did it: it is settled by the same rules. @returns how many. */
  async cancelSome(accountId: string, subject: ErasureSubject): Promise<number> {
    const jobs = await this.store.listLive(this.database, accountId, subject, CANCELED);
    for (const { id, ...place } of jobs) await this.lifecycle.cancel({ ...place, labels: null }, id);
    return jobs.length;
  }

  /** Jobs that can be deleted now, at most `limit`; what streams show of them is forgotten. */
  async listEnded(accountId: string, subject: ErasureSubject, limit: number): Promise<string[]> {
    const ids = await this.store.listEnded(this.database, accountId, subject, limit);
    await Promise.all(ids.map((id) => this.live.forget(id)));
    return ids;
  }

  /** Delete ended jobs, with the keys of the requests that made them. @returns what belonged to them, for the caller to erase. */
  async delete(tx: Statements, accountId: string, jobIds: readonly string[]): Promise<DeletedJobs> {
    const deleted = await this.store.delete(tx, accountId, jobIds);
    await this.forgetKeys(tx, accountId, jobIds);
    return deleted;
  }

  /** Forget the keys of the requests that made jobs, also of jobs that are past their retention. */
  async forgetKeys(tx: Statements, accountId: string, jobIds: readonly string[]): Promise<void> {
    if (jobIds.length > 0) await forgetKeys(tx, accountId, 'postJobs', jobIds);
  }

  /** Whether a job is left, in whichever state. */
  hasAny(tx: Statements, accountId: string, subject: ErasureSubject): Promise<boolean> {
    return this.store.hasAny(tx, accountId, subject);
  }

  /** Delete batches without jobs, at most `limit`. @returns their ids. */
  deleteBatches(tx: Statements, accountId: string, subject: ManyJobs, limit: number): Promise<string[]> {
    return this.store.deleteBatches(tx, accountId, subject, limit);
  }

  /** Forget why items of batches were refused that name the label and value, a page of batches. @returns the last of it; null: none was left. */
  forgetRefusals(
    tx: Statements,
    accountId: string,
    of: { label: string; value: string },
    page: { after: string; limit: number },
  ): Promise<{ last: string | null }> {
    return this.store.forgetRefusals(tx, accountId, of, page);
  }

  /** Forget rules and counts of labels, at most `limit` of each. @returns how many went. */
  forgetLabels(tx: Statements, accountId: string, subject: ManyJobs, limit: number): Promise<number> {
    return this.labels.forget(tx, accountId, subject.kind === 'account' ? null : subject, limit);
  }
}
