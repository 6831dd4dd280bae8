import { randomUUID } from 'node:crypto';
import type { BillingSettings } from '@millrace/billing';
import { isTerminal, type DispatchMessage, type Progress } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { crashPoint, type Metrics } from '@millrace/platform';
import type { Dispatcher } from '../dispatch/dispatcher';
import type { ClaimedAttempt, Fence, JobFailure, JobScope, NodeTiming } from '../state/job';
import type { JobSettings } from '../job.settings';
import type { JobSignals } from './job-events';
import {
  guards,
  type Ending,
  type HeartbeatAnswer,
  type LifecycleStore,
  type LostJob,
  type MovedJob,
} from './lifecycle.store';

/** How a worker's attempt came out. */
export interface AttemptResult {
  outcome: 'succeeded' | 'failed' | 'canceled';
  failure: JobFailure | null;
  /** Engine time used, in milliseconds. */
  engineMs: number;
  progress: Progress | null;
  nodes: NodeTiming[];
  /** The tail of what the run printed, where logs are kept. */
  log: { text: string; truncated: boolean } | null;
}

/**
 * The one writer of job status. Every move is a guarded statement of `LifecycleStore`; what follows a move (telling,
 * dispatching, counting) happens here, after the commit, for whoever caused it.
 */
export class Lifecycle {
  constructor(
    private readonly database: Statements,
    private readonly store: LifecycleStore,
    private readonly signals: JobSignals,
    private readonly dispatcher: Dispatcher,
    private readonly metrics: Metrics,
    private readonly settings: JobSettings & Pick<BillingSettings, 'holdExtensionSeconds'>,
  ) {}

  /**
   * Ask for a job's end. Queued: ended at once. Running: `canceling`, and its worker is told. Anything else is left as it
   * is: canceling twice is canceling once.
   */
  async cancel(scope: JobScope, jobId: string): Promise<void> {
    this.announce(await this.cancelIn(this.database, scope, jobId));
  }

  /**
   * The writes of `cancel`, where they are to commit with others.
   *
   * @returns what moved, in order; it is to be announced after the commit.
   */
  async cancelIn(tx: Statements, scope: JobScope, jobId: string): Promise<MovedJob[]> {
    const queued = await this.store.end(tx, guards.queued(scope, jobId), canceled);
    if (queued !== null) return [queued];
    const moved = await this.store.requestCancel(tx, scope, jobId);
    if (moved === null) return [];
    crashPoint('cancel:after-request');
    // Between two attempts there is no worker to tell.
    const ended = await this.store.end(tx, guards.cancelingUnleased(jobId), canceled);
    return ended === null ? [moved] : [moved, ended];
  }

  /** Tell of moves that have committed. */
  announce(moved: MovedJob[]): void {
    for (const job of moved) this.moved(job);
  }

  /** Take an attempt from the lane. @returns null when it is no longer there to be taken; that is no error. */
  async claim(message: DispatchMessage, workerId: string): Promise<ClaimedAttempt | null> {
    crashPoint('claim:before-commit');
    const claimed = await this.store.claim(this.database, {
      jobId: message.jobId,
      attempt: message.attempt,
      workerId,
      leaseToken: randomUUID(),
      leaseSeconds: this.settings.leaseSeconds,
    });
    if (claimed === null) return null;
    crashPoint('claim:after-commit');
    if (claimed.attempt === 1) {
      this.metrics.startDelaySeconds.observe({ pool: claimed.poolId }, claimed.waitedMs / 1000);
      this.signals.started(claimed.jobId, claimed.seq);
      return claimed;
    }
    // What an earlier attempt showed is newer than its last heartbeat, and the next must not fall behind it.
    const shown = await this.signals.lastShown(claimed.jobId);
    const newer = shown !== null && shown.value > (claimed.progress?.value ?? 0);
    return newer ? { ...claimed, progress: shown } : claimed;
  }

  /**
   * Renew the lease, and the hold where it runs short.
   *
   * @param run the attempt so far: its progress, and its engine time in milliseconds.
   * @returns the status to obey, and whether the run may not go on for want of credits; null when the lease is lost and the
   * attempt is over for this worker.
   */
  async heartbeat(fence: Fence, run: { progress: Progress | null; engineMs: number }): Promise<HeartbeatAnswer | null> {
    const { leaseSeconds, holdExtensionSeconds } = this.settings;
    return this.store.heartbeat(this.database, fence, { ...run, leaseSeconds, holdExtensionSeconds });
  }

  /** End a job with the result of its attempt. @returns null when the lease was lost: the result counts for nothing. */
  async finish(fence: Fence, result: AttemptResult): Promise<MovedJob | null> {
    // A worker that believes its job to be canceled when nobody asked is mistaken, and changes nothing.
    const guard = result.outcome === 'canceled' ? guards.canceling(fence) : guards.fence(fence);
    crashPoint('finish:before-commit');
    const moved = await this.end(guard, {
      status: result.outcome,
      cause: `attempt ${result.outcome}`,
      failure: result.failure,
      engineMs: result.engineMs,
      outcome: result.outcome,
      progress: result.progress,
      nodes: result.nodes,
      log: result.log,
    });
    if (moved !== null) crashPoint('finish:after-commit');
    return moved;
  }

  /** Give an attempt back unfinished, for another worker to take. */
  async handBack(fence: Fence): Promise<MovedJob | null> {
    const moved = await this.store.handBack(this.database, fence);
    if (moved !== null) this.dispatcher.poke(moved.poolId);
    return moved;
  }

  /**
   * Tell that the engine lost the attempt, through no fault of the workflow: the job gets its next, or fails with
   * `engine_error` when this was the last.
   */
  async giveUp(fence: Fence, reason: string): Promise<MovedJob | null> {
    const moved = await this.store.giveUp(this.database, fence);
    if (moved === null) return this.end(guards.fence(fence), engineLost(reason));
    this.dispatcher.poke(moved.poolId);
    return moved;
  }

  /** Keep what a run has printed so far, in case its end is never told. */
  async keepLog(fence: Fence, log: { text: string; truncated: boolean }): Promise<void> {
    await this.store.keepLog(this.database, fence, log);
  }

  /** Have jobs of stopped deployments wait that no worker has claimed yet. @returns how many. */
  async recallFromStopped(): Promise<number> {
    return this.store.recallFromStopped(this.database);
  }

  /** Act on jobs whose worker is lost: next attempt, or the end. @returns how many were acted on. */
  async rescueLost(limit: number): Promise<number> {
    const lost = await this.store.listLost(this.database, limit);
    const moved = await Promise.all(lost.map((job) => this.rescue(job)));
    return moved.filter((job) => job !== null).length;
  }

  private async rescue(job: LostJob): Promise<MovedJob | null> {
    if (job.status === 'canceling') {
      return (
        (await this.end(guards.lost(job.id), lostWhileCanceling)) ??
        this.end(guards.cancelingUnleased(job.id), canceled)
      );
    }
    const moved = job.last
      ? await this.end(guards.lost(job.id), attemptsUsedUp)
      : await this.store.takeBack(this.database, job.id);
    if (moved !== null) {
      crashPoint('rescue:after-take-back');
      this.metrics.leaseLosses.inc({ pool: moved.poolId });
      this.dispatcher.poke(moved.poolId);
    }
    return moved;
  }

  /** Expire jobs past their execution deadline. @returns how many. */
  async expireOverdue(limit: number): Promise<number> {
    const ids = await this.store.listOverdue(this.database, limit);
    const moved = await Promise.all(ids.map((id) => this.end(guards.overdue(id), overdue)));
    return moved.filter((job) => job !== null).length;
  }

  private async end(guard: Parameters<LifecycleStore['end']>[1], ending: Ending): Promise<MovedJob | null> {
    const moved = await this.store.end(this.database, guard, ending);
    if (moved !== null) this.moved(moved);
    return moved;
  }

  private moved(job: MovedJob): void {
    this.signals.moved(job);
    if (!isTerminal(job.status)) return;
    this.metrics.jobsFinished.inc({ pool: job.poolId, status: job.status });
    this.metrics.creditsSettled.inc(Number(job.chargedMicros ?? 0n));
    this.dispatcher.poke(job.poolId);
  }
}

const nothingUsed = { engineMs: 0, progress: null, nodes: null, failure: null, log: null };

const canceled: Ending = { ...nothingUsed, status: 'canceled', cause: 'cancel requested', outcome: 'canceled' };

const lostWhileCanceling: Ending = { ...canceled, cause: 'worker lost while canceling', outcome: 'lost' };

const attemptsUsedUp: Ending = {
  ...nothingUsed,
  status: 'failed',
  cause: 'attempts used up',
  outcome: 'lost',
  failure: {
    code: 'worker_lost',
    message: 'Every worker that ran this job was lost. Nothing was charged; submit the job again.',
  },
};

const overdue: Ending = {
  ...nothingUsed,
  status: 'expired',
  cause: 'execution deadline',
  outcome: 'expired',
  engineMs: null,
  failure: {
    code: 'execution_timeout',
    message: 'The job did not end before its execution deadline.',
  },
};

const engineLost = (reason: string): Ending => ({
  ...attemptsUsedUp,
  cause: 'engine lost every attempt',
  failure: { code: 'engine_error', message: `The engine could not finish this job: ${reason}. Nothing was charged.` },
});
