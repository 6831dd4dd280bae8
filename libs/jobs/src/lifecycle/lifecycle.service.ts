import type { BillingSettings } from '@millrace/billing';
import { isTerminal, type Progress } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { crashPoint, type Metrics } from '@millrace/platform';
import type { JobSettings } from '../job.settings';
import { logTail, type EndGuard, type Fence, type JobLog, type JobScope, type MovedJob, type RoomLack } from '../state';
import { requestCancel } from './cancel.store';
import type { LostJob } from './due-jobs.store';
import { endJob, type WithEnd } from './end.store';
import {
  attemptsUsedUp,
  canceledEnding,
  deadlinePassed,
  lostEnding,
  noRoomEnding,
  overtimePassed,
  type AttemptLoss,
  type AttemptResult,
  type JobEnding,
} from './job-ending';
import type { JobEvents } from './job-events';
import { keepLog } from './log.store';
import {
  giveUpAttempt,
  giveUpForRoom,
  handBackAttempt,
  handBackForRoom,
  recallFromStopped,
  takeBackAttempt,
} from './release.store';
import { resumePaused, retryJob } from './retry.store';
import { renewLease, type HeartbeatAnswer } from './renew.store';

/** Has the pool's lane filled soon. Never throws, never waits. */
export type RequestDispatch = (poolId: string) => void;

/**
 * The one writer of job status. Every move is a guarded statement; what follows a move (publishing, dispatching, counting)
 * happens here, after the commit, whichever process caused it.
 */
export class Lifecycle {
  constructor(
    private readonly database: Statements,
    private readonly events: Pick<JobEvents, 'moved' | 'lastProgress'>,
    private readonly requestDispatch: RequestDispatch,
    private readonly metrics: Metrics,
    private readonly settings: JobSettings & Pick<BillingSettings, 'holdExtensionSeconds'>,
  ) {}

  /**
   * Ask for a job's end. Queued: ended at once. Running: `canceling`, and its worker receives a message. In any other state
   * it stays as it is: canceling twice is canceling once.
   */
  async cancel(scope: JobScope, jobId: string): Promise<void> {
    this.announce(await this.requestEnd(this.database, scope, jobId, (ending) => this.withPublished(jobId, ending)));
  }

  /**
   * The writes of `cancel`, where they are to commit with others. The transaction does not wait for Redis: an end between two attempts has the
   * progress of the last heartbeat.
   *
   * @returns the moves in order, to be announced after the commit.
   */
  cancelIn(tx: Statements, scope: JobScope, jobId: string): Promise<MovedJob[]> {
    return this.requestEnd(tx, scope, jobId, (ending) => Promise.resolve(ending));
  }

  /** @param complete adds to the end of a job between two attempts, before the job is locked. */
  private async requestEnd(
    tx: Statements,
    scope: JobScope,
    jobId: string,
    complete: (ending: JobEnding) => Promise<JobEnding>,
  ): Promise<MovedJob[]> {
    const queued = await endJob(tx, { kind: 'queued', scope, jobId }, canceledEnding('canceled_while_queued'));
    if (queued !== null) return [queued];
    // Between two attempts there is no worker to end it.
    const ending = await complete(canceledEnding('canceled_between_attempts'));
    const moved = await requestCancel(tx, scope, jobId);
    if (moved === null) return [];
    crashPoint('cancel:after-request');
    const ended = await endJob(tx, { kind: 'canceling_unleased', jobId }, ending);
    return ended === null ? [moved] : [moved, ended];
  }

  /** Publish, count and follow up moves that have committed. */
  announce(moved: MovedJob[]): void {
    for (const job of moved) this.moved(job);
  }

  /**
   * Renew the lease, and the hold where it runs short.
   *
   * @param run the attempt so far: its progress, and its engine time in milliseconds.
   * @returns the status to obey, and whether the run may not go on for want of credits or time; null when the lease is lost and the
   * attempt is over for this worker.
   */
  async heartbeat(fence: Fence, run: { progress: Progress | null; engineMs: number }): Promise<HeartbeatAnswer | null> {
    const { leaseSeconds, attemptLimitSeconds, holdExtensionSeconds } = this.settings;
    return renewLease(this.database, fence, { ...run, leaseSeconds, attemptLimitSeconds, holdExtensionSeconds });
  }

  /**
   * End a job with the result of its attempt, or have it pause for its next where its policy has the failure tried again.
   *
   * @param withEnd what is written in the same statement.
   * @returns null when the lease was lost: the result counts for nothing.
   * @throws what `withEnd` refuses: nothing has changed then.
   */
  async finish(fence: Fence, result: AttemptResult, withEnd?: WithEnd): Promise<MovedJob | null> {
    // A worker that takes its job for canceled when nobody asked for it is mistaken, and changes nothing.
    const kind = result.ending === 'canceled_while_running' ? 'canceling_fence' : 'fence';
    crashPoint('finish:before-commit');
    const log = result.log && logTail(result.log, this.settings.logTailBytes);
    const moved = await this.retryOrEnd({ kind, fence }, { ...result, log }, withEnd);
    if (moved !== null) crashPoint('finish:after-commit');
    return moved;
  }

  /** Give an attempt back unfinished, for another worker to take. */
  async handBack(fence: Fence): Promise<MovedJob | null> {
    const moved = await handBackAttempt(this.database, fence);
    if (moved !== null) this.requestDispatch(moved.poolId);
    return moved;
  }

  /**
   * Report that the worker has no room for the models of its attempt, before its engine was given it: another worker that has takes
   * it, and none of the attempts is used up. Where there is none, the next attempt may fare better if the lack passes, or if a worker does not
   * say what it can hold; else the job fails with `input_unavailable`.
   */
  async lackRoom(fence: Fence, lack: RoomLack): Promise<MovedJob | null> {
    const handedBack = await handBackForRoom(this.database, fence, lack);
    const moved = handedBack ?? (await giveUpForRoom(this.database, fence, lack));
    if (moved === null) return this.retryOrEnd({ kind: 'fence', fence }, noRoomEnding(lack));
    this.requestDispatch(moved.poolId);
    return moved;
  }

  /**
   * Report that the attempt was lost with its engine, or by its worker: the job gets its next, or fails with `engine_error`
   * when this was the last.
   */
  async giveUp(fence: Fence, loss: AttemptLoss): Promise<MovedJob | null> {
    const moved = await giveUpAttempt(this.database, fence, loss.by === 'engine' ? loss.engineMs : 0);
    if (moved === null) return this.retryOrEnd({ kind: 'fence', fence }, lostEnding(loss));
    this.requestDispatch(moved.poolId);
    return moved;
  }

  /** Keep what a run has printed so far, in case its end is never reported. */
  async keepLog(fence: Fence, log: JobLog): Promise<void> {
    await keepLog(this.database, fence, logTail(log, this.settings.logTailBytes));
  }

  /** Have jobs of stopped deployments wait that no worker has claimed yet. @returns how many. */
  async recallFromStopped(): Promise<number> {
    return recallFromStopped(this.database);
  }

  /** Have jobs wait for their next attempt whose pause is over. @returns how many. */
  async resumePaused(jobIds: readonly string[]): Promise<number> {
    const pools = await resumePaused(this.database, jobIds);
    for (const poolId of new Set(pools)) this.requestDispatch(poolId);
    return pools.length;
  }

  /** Act on a job whose worker is lost: its next attempt, or its end. @returns null when there is nothing to do any more. */
  async rescue({ id: jobId, status, last }: Omit<LostJob, 'turn'>): Promise<MovedJob | null> {
    if (status === 'canceling') {
      return this.end({ kind: 'lost_for_good', jobId }, canceledEnding('canceled_with_worker_lost'));
    }
    const moved = last
      ? await this.retryOrEnd({ kind: 'lost_for_good', jobId }, attemptsUsedUp)
      : await takeBackAttempt(this.database, jobId);
    if (moved !== null) {
      crashPoint('rescue:after-take-back');
      this.metrics.leaseLosses.inc({ pool: moved.poolId });
      this.requestDispatch(moved.poolId);
    }
    return moved;
  }

  /** End a job that is to be canceled between two attempts. @returns null when it has ended. */
  async endCanceled(jobId: string): Promise<MovedJob | null> {
    return this.end({ kind: 'canceling_unleased', jobId }, canceledEnding('canceled_between_attempts'));
  }

  /** Expire a job past its execution deadline. @returns null when it has ended, or a worker claimed it just now: then the next call expires it. */
  async expire(jobId: string): Promise<MovedJob | null> {
    return this.end({ kind: 'overdue', jobId }, deadlinePassed);
  }

  /** End a job whose worker did not stop an attempt that reached its time limit. @returns null when it has ended. */
  async endOvertime(jobId: string): Promise<MovedJob | null> {
    const { attemptLimitSeconds: limitSeconds } = this.settings;
    return this.end({ kind: 'overtime', jobId, limitSeconds }, overtimePassed);
  }

  private async retryOrEnd(guard: EndGuard, ending: JobEnding, withEnd?: WithEnd): Promise<MovedJob | null> {
    const retried = await retryJob(this.database, guard, ending);
    if (retried === null) return this.end(guard, ending, withEnd);
    crashPoint('retry:after-commit');
    this.metrics.jobRetries.inc({ pool: retried.poolId });
    this.requestDispatch(retried.poolId);
    return retried;
  }

  private async end(guard: EndGuard, ending: JobEnding, withEnd?: WithEnd): Promise<MovedJob | null> {
    const jobId = 'fence' in guard ? guard.fence.jobId : guard.jobId;
    const moved = await endJob(this.database, guard, await this.withPublished(jobId, ending), withEnd);
    if (moved !== null) this.moved(moved);
    return moved;
  }

  /**
   * The end with the progress that was published last, where no worker reports any: streams may have shown more than the last heartbeat said,
   * and progress never goes back. Workers report theirs, so that no end of a run waits for Redis.
   */
  private async withPublished(jobId: string, ending: JobEnding): Promise<JobEnding> {
    return ending.progress === null ? { ...ending, progress: await this.events.lastProgress(jobId) } : ending;
  }

  private moved(job: MovedJob): void {
    this.events.moved(job);
    if (!isTerminal(job.status)) return;
    this.metrics.creditsSettled.inc(Number(job.chargedMicros ?? 0n));
    this.requestDispatch(job.poolId);
  }
}
