import { Refusal, isUuid } from '@millrace/contracts';
import { decodeCursor, encodeCursor, type Statements } from '@millrace/database';
import type { LivePublisher } from '@millrace/messaging';
import { Turns } from '@millrace/platform';
import type { QueueEstimates, QueuePlace } from '../rotation';
import type { JobLogRecord, JobRecord, JobScope, JobTransitionRecord, NodeTiming } from '../state';
import type { JobFilter, JobStore } from './job.store';

const LIST = 'jobs';
/** A page of 100 jobs takes some 25 ms of the database and of this process each. */
const LISTS_AT_A_TIME = 1;

export interface JobRecordPage {
  jobs: JobRecord[];
  /** Places in the queue, by id, of those that wait. */
  places: Map<string, QueuePlace>;
  /** Absent on the last page. */
  nextCursor: string | undefined;
}

/** Reading jobs, always within a scope: a job outside it is not found. */
export class JobReads {
  private readonly turns = new Turns(LISTS_AT_A_TIME, 'lists');

  constructor(
    private readonly database: Statements,
    private readonly store: JobStore,
    private readonly estimates: QueueEstimates,
    private readonly live: Pick<LivePublisher, 'progress'>,
  ) {}

  /** @throws Refusal `not_found`. */
  async get(scope: JobScope, id: string, options: { withLogs?: boolean } = {}): Promise<JobRecord> {
    const job = isUuid(id) ? await this.store.find(this.database, scope, id, options.withLogs ?? false) : null;
    if (job === null) throw noJob(id);
    return job;
  }

  /**
   * The job with the progress that its stream shows at this moment; what Postgres holds is as old as the last heartbeat.
   *
   * @throws Refusal `not_found`.
   */
  async getLive(scope: JobScope, id: string, options: { withLogs?: boolean } = {}): Promise<JobRecord> {
    const job = await this.get(scope, id, options);
    if (job.delivery !== 'leased') return job;
    const shown = await this.live.progress(job.id);
    // What was shown is deleted at a job's end, which may have come since it was read.
    if (shown === null) return this.get(scope, id, options);
    return shown.value >= (job.progress?.value ?? 0) ? { ...job, progress: shown } : job;
  }

  /** Newest first; `cursor` goes on after an earlier page. @throws Refusal `invalid_cursor`, `rate_limited`. */
  async list(
    scope: JobScope,
    { cursor, ...filter }: Pick<JobFilter, 'status' | 'metadata' | 'limit'> & { cursor: string | null },
  ): Promise<JobRecordPage> {
    const before = cursor === null ? null : decodeCursor(LIST, cursor, isUuid);
    return this.turns.run(scope.accountId, () => this.page(scope, { ...filter, before }));
  }

  private async page(scope: JobScope, filter: JobFilter): Promise<JobRecordPage> {
    const { jobs, more } = await this.store.list(this.database, scope, filter);
    const last = jobs.at(-1);
    const places = await this.queuePlaces(scope, jobs);
    return { jobs, places, nextCursor: more && last !== undefined ? encodeCursor(LIST, last.id) : undefined };
  }

  /** How large the graph's text is, before it is read. @throws Refusal `not_found`. */
  async workflowBytes(scope: JobScope, id: string): Promise<number> {
    const bytes = isUuid(id) ? await this.store.workflowBytes(this.database, scope, id) : null;
    if (bytes === null) throw noJob(id);
    return bytes;
  }

  /** The graph's text as submitted. @throws Refusal `not_found`. */
  async workflow(scope: JobScope, id: string): Promise<string> {
    const workflow = isUuid(id) ? await this.store.workflow(this.database, scope, id) : null;
    if (workflow === null) throw noJob(id);
    return workflow;
  }

  /** What the run printed; null until the job has ended, and where nothing is captured. @throws Refusal `not_found`. */
  async logs(scope: JobScope, id: string): Promise<JobLogRecord | null> {
    return (await this.get(scope, id, { withLogs: true })).logs;
  }

  /** Times of nodes, empty until an attempt has ended. @throws Refusal `not_found`. */
  async nodeTimings(scope: JobScope, id: string): Promise<NodeTiming[]> {
    const timings = isUuid(id) ? await this.store.nodeTimings(this.database, scope, id) : null;
    if (timings === null) throw noJob(id);
    return timings;
  }

  /** An estimate of a queued job's place; null for any other. */
  async queuePlace(job: JobRecord): Promise<QueuePlace | null> {
    if (job.status !== 'queued') return null;
    if (job.delivery === 'dispatched') return this.estimates.placeInLane(job.poolId);
    const ahead = await this.store.countAhead(this.database, job);
    return this.estimates.place(job.poolId, job.accountId, ahead);
  }

  /** The same of every job of a page, by id; two statements at most, however long the page. */
  async queuePlaces(scope: JobScope, jobs: readonly JobRecord[]): Promise<Map<string, QueuePlace>> {
    const queued = jobs.filter((job) => job.status === 'queued');
    const waiting = queued.filter((job) => job.delivery === 'waiting');
    const ahead =
      waiting.length === 0
        ? new Map<string, number>()
        : await this.store.countAheadOfEach(this.database, scope.accountId, waiting);
    const places = queued.map(async (job): Promise<[string, QueuePlace]> => {
      if (job.delivery !== 'waiting') return [job.id, await this.estimates.placeInLane(job.poolId)];
      return [job.id, await this.estimates.place(job.poolId, job.accountId, ahead.get(job.id) ?? 0)];
    });
    return new Map(await Promise.all(places));
  }

  /**
   * The job, and the transitions after number `seq` that led to its present state.
   * A transition made after the job was read is left for the next reading, together with its outputs.
   *
   * @throws Refusal `not_found`.
   */
  async sinceTransition(scope: JobScope, id: string, seq: number): Promise<[JobTransitionRecord[], JobRecord]> {
    const job = await this.get(scope, id);
    const transitions = job.seq > seq ? await this.store.transitions(this.database, id, seq) : [];
    return [transitions.filter((transition) => transition.seq <= job.seq), job];
  }
}

function noJob(id: string): Refusal {
  return new Refusal('not_found', `There is no job ${id} here; it may have expired, or belong to another surface.`);
}
