import type { Progress } from '@millrace/contracts';
import { GroupedReads } from '@millrace/database';
import type { LivePublisher } from '@millrace/messaging';
import type { QueuePlace } from '../rotation';
import { scopeText, type JobRecord, type JobScope } from '../state';
import { CoalescedReads } from './coalesced-reads';
import type { JobReads } from './job-reads.service';
import { factsOf, versionOf, type JobVersion } from './job-version';
import { hasLiveProgress, withProgress } from './live-progress';

/** What a poll shows of a job. */
export interface PolledJob {
  job: JobRecord;
  /** Null unless the job is queued. */
  place: QueuePlace | null;
  version: JobVersion;
}

interface PollOptions {
  withLogs?: boolean;
}

/**
 * Polls of jobs, always within a scope. Polls of one job that come at about the same time share one reading; callers of other
 * scopes share nothing with them. Who knows a version of the job reads first whether it is still that one, for which neither
 * its outputs nor its logs are read.
 */
export class JobPolls {
  private readonly jobs = new CoalescedReads<PolledJob>();
  private readonly versions = new CoalescedReads<JobVersion>();
  /** No group waits for another: commands share one connection to Redis, which may be silent for a while. */
  private readonly shown = new GroupedReads<string, Progress>((ids) => this.live.progress(ids), false);

  constructor(
    private readonly reads: Pick<JobReads, 'get' | 'facts' | 'queuePlace'>,
    private readonly live: Pick<LivePublisher, 'progress'>,
  ) {}

  /**
   * The job with the progress that its stream shows at this moment; what Postgres holds is as old as the last heartbeat.
   *
   * @throws Refusal `not_found`.
   */
  read(scope: JobScope, id: string, { withLogs = false }: PollOptions = {}): Promise<PolledJob> {
    return this.jobs.get(keyOf(scope, id, withLogs), async () => {
      const job = await this.withLiveProgress(() => this.reads.get(scope, id, { withLogs }));
      const place = await this.reads.queuePlace(job);
      return { job, place, version: versionOf(factsOf(job), place) };
    });
  }

  /** The version alone. @throws Refusal `not_found`. */
  version(scope: JobScope, id: string, { withLogs = false }: PollOptions = {}): Promise<JobVersion> {
    return this.versions.get(keyOf(scope, id, withLogs), async () => {
      const facts = await this.withLiveProgress(() => this.reads.facts(scope, id, { withLogs }));
      return versionOf(facts, await this.reads.queuePlace(facts));
    });
  }

  private async withLiveProgress<T extends Pick<JobRecord, 'id' | 'status' | 'progress'>>(
    read: () => Promise<T>,
  ): Promise<T> {
    const job = await read();
    if (!hasLiveProgress(job)) return job;
    const shown = await this.shown.get(job.id);
    // What was shown is deleted at a job's end, which may have come since it was read.
    if (shown === null) return read();
    return withProgress(job, shown);
  }
}

function keyOf(scope: JobScope, id: string, withLogs: boolean): string {
  return [id, withLogs, scopeText(scope)].join(' ');
}
