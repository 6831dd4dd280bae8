import { Refusal, isUuid, type JobStatus } from '@millrace/contracts';
import { decodeCursor, encodeCursor, isLockTimeout, pageOf, type Page, type Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import { CoalescedReads, OUTPUTS_OF_A_PAGE, type JobReads, type JobStore } from '../follow';
import type { Lifecycle } from '../lifecycle';
import type { QueuePlace } from '../rotation';
import { scopeText, type JobRecord, type JobScope } from '../state';
import type { BatchPlace, BatchRecord } from './batch';
import { followBatch, type FollowedBatch } from './batch-follow.store';
import { endCanceling, listCancelableOf } from './batch-sweep.store';
import type { BatchStore } from './batch.store';

const LIST = 'batches';
const JOBS = 'batch jobs';
/** Of one account: the counts of a batch of 10,000 jobs take some 10 ms of the database, and a page shows up to 100 batches. */
const READS_AT_A_TIME = 1;
/** Jobs that are in memory at once where all are read. */
const EACH_PAGE = 50;
/** Jobs that a request cancels itself; the loop cancels the rest. */
const CANCELED_AT_ONCE = 100;

/** A job of a batch, read. */
export interface BatchJob {
  index: number;
  job: JobRecord;
  /** Where it stands in the queue, while it waits. */
  place: QueuePlace | null;
}

interface JobsQuery {
  /** The place before the first that is asked for; -1: from the first. */
  after: number;
  limit: number;
  status: JobStatus | null;
}

interface JobsPage {
  items: BatchJob[];
  /** After which place the next page begins; null: there is none. */
  next: number | null;
}

/** Batches as their account reads and cancels them, always within a scope: a batch outside it is not found. */
export class Batches {
  private readonly turns = new Turns(READS_AT_A_TIME, 'reads of batches');
  private readonly polls = new CoalescedReads<BatchRecord>();

  constructor(
    private readonly database: Statements,
    private readonly store: BatchStore,
    private readonly jobs: Pick<JobStore, 'findEach'>,
    private readonly reads: Pick<JobReads, 'queuePlaces' | 'withLiveProgress'>,
    private readonly lifecycle: Pick<Lifecycle, 'cancel'>,
    /** How far readings of what has ended overlap, in milliseconds (`followBatch`). */
    private readonly overlapMs: number,
  ) {}

  /** Polls of one batch that come at about the same time share one reading. @throws Refusal `not_found`, `rate_limited`. */
  get(scope: JobScope, id: string): Promise<BatchRecord> {
    const key = [id, scopeText(scope)].join(' ');
    return this.polls.get(key, () => this.turns.run(scope.accountId, () => this.find(scope, id)));
  }

  /** As `get`, for the answer to a request that has changed it: it is not refused for how many others wait. @throws Refusal `not_found`. */
  getChanged(scope: JobScope, id: string): Promise<BatchRecord> {
    return this.turns.runAdmitted(scope.accountId, () => this.find(scope, id));
  }

  /** With few of its refusals, and the jobs that ended since a time. For streams, which share their readings. @throws Refusal `not_found`. */
  async follow(scope: JobScope, id: string, since: Date | null): Promise<FollowedBatch> {
    const { database, overlapMs } = this;
    const followed = await this.turns.runAdmitted(scope.accountId, () =>
      followBatch(database, scope, id, { since, overlapMs }),
    );
    if (followed === null) throw noBatch(id);
    return followed;
  }

  /** Costs no count of its jobs. @throws Refusal `not_found`. */
  async assertThere(scope: JobScope, id: string): Promise<void> {
    if (!(await this.store.exists(this.database, scope, id))) throw noBatch(id);
  }

  private async find(scope: JobScope, id: string): Promise<BatchRecord> {
    const batch = await this.store.find(this.database, scope, id);
    if (batch === null) throw noBatch(id);
    return batch;
  }

  /** Newest first. @throws Refusal `invalid_cursor`, `rate_limited`. */
  async list(scope: JobScope, page: { cursor: string | null; limit: number }): Promise<Page<BatchRecord>> {
    const before = page.cursor === null ? null : decodeCursor(LIST, page.cursor, isUuid);
    const { limit } = page;
    const rows = await this.turns.run(scope.accountId, () => this.store.list(this.database, scope, { before, limit }));
    return pageOf(LIST, rows, limit, ({ id }) => id);
  }

  /**
   * The jobs of a batch, in its order. A page ends with the job that has the last of `OUTPUTS_OF_A_PAGE` outputs, however many were asked for.
   *
   * @throws Refusal `not_found`, `invalid_cursor`, `rate_limited`. */
  async listJobs(
    scope: JobScope,
    id: string,
    { cursor, limit, status }: { cursor: string | null; limit: number; status: JobStatus | null },
  ): Promise<Page<BatchJob>> {
    const after = cursor === null ? -1 : Number(decodeCursor(JOBS, cursor, isIndex));
    const { items, next } = await this.turns.run(scope.accountId, () =>
      this.readPage(scope, id, { after, limit, status }),
    );
    return next === null ? { items } : { items, nextCursor: encodeCursor(JOBS, String(next)) };
  }

  /**
   * Every job of a batch, in its order; a page of them is read when the one before has been used up. It waits for its turns however many
   * others wait, and is never refused: its caller bounds how many read at once.
   *
   * @throws Refusal `not_found`.
   */
  async *eachJob(scope: JobScope, id: string): AsyncGenerator<BatchJob> {
    for (let after: number | null = -1; after !== null;) {
      const page: JobsQuery = { after, limit: EACH_PAGE, status: null };
      const read: JobsPage = await this.turns.runAdmitted(scope.accountId, () => this.readPage(scope, id, page));
      yield* read.items;
      after = read.next;
    }
  }

  /** A job that had a place of a batch when it was read, also where a retry gave that to another. Null when it is gone. */
  async jobBefore(scope: JobScope, place: Pick<BatchPlace, 'jobId' | 'index'>): Promise<BatchJob | null> {
    const found = await this.turns.runAdmitted(scope.accountId, () => this.readJobs(scope, [place]));
    return found[0] ?? null;
  }

  private async readPage(scope: JobScope, id: string, { after, limit, status }: JobsQuery): Promise<JobsPage> {
    await this.assertThere(scope, id);
    const places = await this.store.places(this.database, id, { after, limit: limit + 1, status });
    const shown = withinOutputs(places.slice(0, limit));
    const items = await this.readJobs(scope, shown);
    return { items, next: shown.length === places.length ? null : (shown.at(-1)?.index ?? null) };
  }

  private async readJobs(scope: JobScope, places: readonly Pick<BatchPlace, 'jobId' | 'index'>[]): Promise<BatchJob[]> {
    const { accountId } = scope;
    const asked = places.map(({ jobId }) => ({ accountId, jobId }));
    const found = asked.length === 0 ? [] : await this.jobs.findEach(this.database, asked);
    const [shown, queue] = await Promise.all([
      this.reads.withLiveProgress(found),
      this.reads.queuePlaces(scope, found),
    ]);
    const byId = new Map(shown.map((job) => [job.id, job]));
    return places.flatMap(({ jobId, index }) => {
      const job = byId.get(jobId);
      return job === undefined ? [] : [{ index, job, place: queue.get(jobId) ?? null }];
    });
  }

  /**
   * Cancel every job of a batch that has not ended, each as if it were canceled alone. The request is recorded first: what is not
   * canceled when this returns is so soon, also if this process dies.
   *
   * @throws Refusal `not_found`; `batch_busy` while its jobs are being tried again.
   */
  async cancel(scope: JobScope, id: string): Promise<BatchRecord> {
    if (!(await this.requestCancel(scope, id))) throw noBatch(id);
    const first = await listCancelableOf(this.database, id, CANCELED_AT_ONCE);
    for (const { id: jobId } of first) await this.lifecycle.cancel(scope, jobId);
    if (first.length < CANCELED_AT_ONCE) await endCanceling(this.database);
    return this.getChanged(scope, id);
  }

  private async requestCancel(scope: JobScope, id: string): Promise<boolean> {
    try {
      return await this.store.requestCancel(this.database, scope, id);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const message = `Jobs of batch ${id} are being tried again by another request; none was canceled.`;
      throw new Refusal('batch_busy', message);
    }
  }
}

/** The jobs up to the one that has the last of the outputs that a page may have. */
function withinOutputs(places: readonly BatchPlace[]): readonly BatchPlace[] {
  let before = 0;
  return places.filter(({ outputs }) => {
    const fits = before < OUTPUTS_OF_A_PAGE;
    before += outputs;
    return fits;
  });
}

function isIndex(position: string): boolean {
  return /^\d{1,5}$/.test(position);
}

/** The refusal of a batch that is not there. */
export function noBatch(id: string): Refusal {
  return new Refusal('not_found', `There is no batch ${id} here; it may have expired, or belong to another surface.`);
}
