import { Refusal, isUuid } from '@millrace/contracts';
import { decodeCursor, pageOf, type Page, type Statements } from '@millrace/database';
import type { FailedJob, JobHistory, JobHistoryStore } from './job-history.store';

const CURSOR = 'failures';

/** What operators read of jobs of any account. */
export class JobHistories {
  constructor(
    private readonly database: Statements,
    private readonly store: JobHistoryStore,
  ) {}

  /** A job across its attempts. @throws Refusal `not_found`. */
  async get(id: string): Promise<JobHistory> {
    const job = await this.store.find(this.database, id);
    if (job === null) throw new Refusal('not_found', `There is no job ${id}.`);
    return job;
  }

  /** Jobs that failed, the latest submitted first. @throws Refusal `invalid_cursor`. */
  async failures(page: { cursor: string | null; limit: number }): Promise<Page<FailedJob>> {
    const before = page.cursor === null ? null : decodeCursor(CURSOR, page.cursor, isUuid);
    const rows = await this.store.failed(this.database, before, page.limit + 1);
    return pageOf(CURSOR, rows, page.limit, ({ id }) => id);
  }

  /** The ids of the jobs that each worker runs now, by the worker's id. */
  async running(): Promise<Map<string, string[]>> {
    const rows = await this.store.running(this.database);
    return new Map(rows.map(({ workerId, jobIds }) => [workerId, jobIds]));
  }
}
