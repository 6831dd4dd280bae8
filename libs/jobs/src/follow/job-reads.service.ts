import { Refusal, isUuid, lowestIdAt } from '@millrace/contracts';
import { GroupedReads, decodeCursor, encodeCursor, type Statements } from '@millrace/database';
import type { LivePublisher } from '@millrace/messaging';
import { BoundedMap, Turns } from '@millrace/platform';
import type { QueueEstimates, QueuePlace } from '../rotation';
import type { JobLogRecord, JobRecord, JobScope, JobTransitionRecord, NodeTiming } from '../state';
import { findAttempts } from './job-attempt.store';
import { describeAttempts, type JobAttempt, type JobRetries } from './job-attempts';
import { waitingOf, type JobStandingNow } from './job-standing';
import { findStanding } from './job-standing.store';
import type { AskedJob, JobFactsRow, JobFilter, JobStore } from './job.store';
import { hasLiveProgress, withProgress } from './live-progress';
import type { QueueRanks } from './queue-ranks';

const LIST = 'jobs';
/**
 * Of one account. A page of 100 jobs takes some 25 ms of the database and of this process each, a job with 1,000 outputs 15 ms,
 * the times of 5,000 nodes 50 ms and more.
 */
const LARGE_READS_AT_A_TIME = 1;
/** A job beyond these is read in turn from its second reading on. */
const FEW_OUTPUTS = 100;
const SHORT_LOG_CHARACTERS = 65_536;
/** Large jobs that are remembered; of one that is forgotten the next reading is counted again. */
const LARGE_JOBS = 10_000;

/** What a job's place in the queue follows from. */
type QueuedJob = Pick<JobRecord, 'id' | 'poolId' | 'accountId' | 'status' | 'delivery'>;

/** What a list shows. Ids are made from the time of submission, so that times are ranges of the list's own order. */
export interface JobListFilter extends Pick<JobFilter, 'status' | 'metadata' | 'limit'> {
  cursor: string | null;
  /** Submitted then or later. */
  createdAfter: Date | null;
  /** Submitted before. */
  createdBefore: Date | null;
}

export interface JobRecordPage {
  jobs: JobRecord[];
  /** Places in the queue, by id, of those that wait. */
  places: Map<string, QueuePlace>;
  /** Absent on the last page. */
  nextCursor: string | undefined;
}

/**
 * Reading jobs, always within a scope: a job outside it is not found. Large readings of an account wait for each other; those of
 * jobs with few outputs, which are nearly all, are read together where many come at once.
 */
export class JobReads {
  private readonly turns = new Turns(LARGE_READS_AT_A_TIME, 'large reads');
  /** Ids of jobs that were large when they were last read. */
  private readonly large = new BoundedMap<true>(LARGE_JOBS);
  private readonly jobs = new GroupedReads((asks: readonly AskedJob[]) => this.store.findAsked(this.database, asks));
  private readonly versions = new GroupedReads((asks: readonly AskedJob[]) =>
    this.store.factsAsked(this.database, asks),
  );

  constructor(
    private readonly database: Statements,
    private readonly store: JobStore,
    private readonly estimates: QueueEstimates,
    private readonly ranks: Pick<QueueRanks, 'ahead'>,
    private readonly live: Pick<LivePublisher, 'progress'>,
  ) {}

  /** Never refused for how much waits: a poll that is ends the official client's run, and polls are counted and shared. @throws Refusal `not_found`. */
  async get(scope: JobScope, id: string, options: { withLogs?: boolean } = {}): Promise<JobRecord> {
    if (!isUuid(id)) throw noJob(id);
    const ask = { scope, id, withLogs: options.withLogs ?? false };
    // What is large would make the others of its group wait.
    const readAlone = async (): Promise<JobRecord | null> =>
      (await this.store.findAsked(this.database, [ask]))[0] ?? null;
    const job = this.large.has(id)
      ? await this.turns.runAdmitted(scope.accountId, readAlone)
      : await this.jobs.get(ask);
    if (job === null) throw noJob(id);
    this.noteSize(id, job);
    return job;
  }

  private noteSize(id: string, job: JobRecord): void {
    if (isLarge(job)) this.large.set(id, true);
  }

  /** What decides whether a poll of the job shows anything new. @throws Refusal `not_found`. */
  async facts(scope: JobScope, id: string, options: { withLogs?: boolean } = {}): Promise<JobFactsRow> {
    const facts = isUuid(id) ? await this.versions.get({ scope, id, withLogs: options.withLogs ?? false }) : null;
    if (facts === null) throw noJob(id);
    return facts;
  }

  /** Newest first; `cursor` goes on after an earlier page. @throws Refusal `invalid_cursor`, `rate_limited`. */
  async list(
    scope: JobScope,
    { cursor, createdAfter, createdBefore, ...filter }: JobListFilter,
  ): Promise<JobRecordPage> {
    const since = createdAfter === null ? null : lowestIdAt(createdAfter.getTime());
    const ends = [
      ...(createdBefore === null ? [] : [lowestIdAt(createdBefore.getTime())]),
      ...(cursor === null ? [] : [decodeCursor(LIST, cursor, isUuid)]),
    ];
    const before = ends.sort()[0] ?? null;
    return this.turns.run(scope.accountId, () => this.page(scope, { ...filter, since, before }));
  }

  private async page(scope: JobScope, filter: JobFilter): Promise<JobRecordPage> {
    const { jobs: found, more } = await this.store.list(this.database, scope, filter);
    const last = found.at(-1);
    const [jobs, places] = await Promise.all([this.withLiveProgress(found), this.queuePlaces(scope, found)]);
    return { jobs, places, nextCursor: more && last !== undefined ? encodeCursor(LIST, last.id) : undefined };
  }

  /** Jobs of a list with the progress that their streams show, as far as Redis has it (contract, section 2). */
  async withLiveProgress(jobs: readonly JobRecord[]): Promise<JobRecord[]> {
    const running = jobs.filter(hasLiveProgress);
    if (running.length === 0) return [...jobs];
    const shown = await this.live.progress(running.map(({ id }) => id));
    const byId = new Map(running.map(({ id }, at) => [id, shown[at] ?? null]));
    return jobs.map((job) => withProgress(job, byId.get(job.id) ?? null));
  }

  /** How large the graph's text is, before it is read. @throws Refusal `not_found`. */
  async workflowBytes(scope: JobScope, id: string): Promise<number> {
    const bytes = isUuid(id) ? await this.store.workflowBytes(this.database, scope, id) : null;
    if (bytes === null) throw noJob(id);
    return bytes;
  }

  /** The graph's text as submitted. @throws Refusal `not_found`, `rate_limited`. */
  async workflow(scope: JobScope, id: string): Promise<string> {
    const read = (): Promise<string | null> => this.store.workflow(this.database, scope, id);
    const workflow = isUuid(id) ? await this.turns.run(scope.accountId, read) : null;
    if (workflow === null) throw noJob(id);
    return workflow;
  }

  /** What the run printed; null until the job has ended, and where nothing is captured. @throws Refusal `not_found`. */
  async logs(scope: JobScope, id: string): Promise<JobLogRecord | null> {
    return (await this.get(scope, id, { withLogs: true })).logs;
  }

  /** Times of nodes, empty until an attempt has ended. @throws Refusal `not_found`, `rate_limited`. */
  async nodeTimings(scope: JobScope, id: string): Promise<NodeTiming[]> {
    const read = (): Promise<NodeTiming[] | null> => this.store.nodeTimings(this.database, scope, id);
    const timings = isUuid(id) ? await this.turns.run(scope.accountId, read) : null;
    if (timings === null) throw noJob(id);
    return timings;
  }

  /** All attempts, the first one first, and the retry policy. @throws Refusal `not_found`. */
  async attempts(scope: JobScope, id: string): Promise<{ attempts: JobAttempt[]; retry: JobRetries | null }> {
    const row = isUuid(id) ? await findAttempts(this.database, scope, id) : null;
    if (row === null) throw noJob(id);
    return { attempts: describeAttempts(row), retry: row.retry };
  }

  /** Why the job waits, where it does. @throws Refusal `not_found`. */
  async standing(scope: JobScope, id: string, seesDeployment: boolean): Promise<JobStandingNow> {
    const row = isUuid(id) ? await findStanding(this.database, scope, id) : null;
    if (row === null) throw noJob(id);
    return { id: row.id, status: row.status, waiting: waitingOf(row, seesDeployment) };
  }

  /** An estimate of a queued job's place; null for any other. */
  async queuePlace(job: QueuedJob): Promise<QueuePlace | null> {
    if (job.status !== 'queued') return null;
    if (job.delivery === 'dispatched') return this.estimates.placeInLane(job.poolId, job.id);
    return this.estimates.place(job.poolId, job.accountId, await this.ranks.ahead(job));
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
      if (job.delivery !== 'waiting') return [job.id, await this.estimates.placeInLane(job.poolId, job.id)];
      return [job.id, await this.estimates.place(job.poolId, job.accountId, ahead.get(job.id) ?? 0)];
    });
    return new Map(await Promise.all(places));
  }

  /**
   * The job, and the transitions after number `seq` that led to its present state.
   * For streams, which are few and share their readings: it waits for nothing.
   *
   * @throws Refusal `not_found`.
   */
  async sinceTransition(scope: JobScope, id: string, seq: number): Promise<[JobTransitionRecord[], JobRecord]> {
    const found = isUuid(id) ? await this.store.findSince(this.database, scope, id, seq) : null;
    if (found === null) throw noJob(id);
    this.noteSize(id, found.job);
    return [found.transitions, found.job];
  }
}

function isLarge({ outputs, logs }: JobRecord): boolean {
  return outputs.length > FEW_OUTPUTS || (logs !== null && logs.text.length > SHORT_LOG_CHARACTERS);
}

function noJob(id: string): Refusal {
  return new Refusal('not_found', `There is no job ${id} here; it may have expired, or belong to another surface.`);
}
