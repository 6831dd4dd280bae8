import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { JobSettings } from '../job.settings';
import type { Lifecycle } from '../lifecycle';
import type { ClaimedAttempt } from '../state';
import type { Dispatcher } from './dispatcher';
import type { WarmClaimStore } from './warm-claim.store';

/** A worker that receives messages from a pool's lane. */
export interface ClaimingWorker {
  id: string;
  poolId: string;
  /** Files of weights that it holds in memory. */
  warm: readonly string[];
  /** Files of weights that are on its disk, beside those in memory. */
  disk?: readonly string[];
  /**
   * Models of the message that it would have to fetch. Absent: those that it holds neither in memory nor on its disk. What its engine
   * brought itself is not among them.
   */
  lacking?: readonly string[];
  /** The claim, where its answer may be lost on the way: it is the token of the lease. Absent: nobody asks again. */
  claimId?: string | undefined;
  /** The same claim was asked for before, and its answer did not arrive. */
  again?: boolean | undefined;
}

/** When an attempt is offered again that waits for a certain worker, in milliseconds: each offer costs a statement or two. */
const BUSY_REST_MS = 250;

/** What a worker's claim came to. */
export interface ClaimResult {
  /** What the worker is to run now. */
  claimed: ClaimedAttempt | null;
  /** The message of an attempt that is left to another worker: to be offered again once this worker is done with it. */
  left: DispatchMessage | null;
}

/**
 * Claims attempts with regard to the models that a worker holds: loading them may take longer than the run. Whose turn it is,
 * dispatching has decided; among what it has put into a lane, a worker prefers what it can run without loading anything, and
 * leaves an attempt to an idle worker that holds its models. Memory counts first: only where the worker would have to fetch the
 * models of an attempt, what is on a disk counts too, and the attempt is left to a busy worker as well, for `modelWaitSeconds` from
 * its dispatch on at most. A claim stays the one guarded statement.
 */
export class WarmClaims {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<WarmClaimStore, 'choose' | 'isLeftForRoom'>,
    private readonly lifecycle: Pick<Lifecycle, 'claim' | 'repeatClaim'>,
    private readonly dispatcher: Pick<Dispatcher, 'passOn'>,
    private readonly settings: Pick<JobSettings, 'modelWaitSeconds'>,
  ) {}

  /**
   * Claim the attempt of a message, or one in the lane that suits the worker better. One statement where no models are named
   * or all of them are held, or models are not to matter.
   */
  async take(message: DispatchMessage, worker: ClaimingWorker): Promise<ClaimResult> {
    if (worker.again === true && worker.claimId !== undefined) {
      const claimed = await this.lifecycle.repeatClaim(worker.id, worker.poolId, worker.claimId);
      if (claimed !== null) return { claimed, left: null };
    }
    const claim = (wanted: DispatchMessage): Promise<ClaimedAttempt | null> =>
      this.lifecycle.claim(wanted, worker.id, worker.poolId, worker.claimId);
    const { modelWaitSeconds: waitSeconds } = this.settings;
    if (waitSeconds === 0 || isWarm(message, worker.warm)) return this.claimOrLeave(message, worker);
    const { disk = [], id: workerId, poolId, warm } = worker;
    const { models = [] } = message;
    const lacking = worker.lacking ?? models.filter((name) => !warm.includes(name) && !disk.includes(name));
    const offer = { poolId, workerId, warm, disk, lacking, waitSeconds, message };
    const { instead, holder } = await this.store.choose(this.database, offer);
    const better = instead === null ? null : await claim(instead);
    if (better !== null) {
      // The worker keeps its message until its engine is free again: others need one of their own now.
      void this.dispatcher.passOn(worker.poolId, message);
      return { claimed: better, left: null };
    }
    if (holder === 'idle') return { claimed: null, left: message };
    if (holder === 'busy') return { claimed: null, left: { ...message, restMs: BUSY_REST_MS } };
    return this.claimOrLeave(message, worker);
  }

  /** An attempt that the worker has no room for is left to one that has. */
  private async claimOrLeave(message: DispatchMessage, worker: ClaimingWorker): Promise<ClaimResult> {
    const { id, poolId, claimId } = worker;
    const claimed = await this.lifecycle.claim(message, id, poolId, claimId);
    if (claimed !== null) return { claimed, left: null };
    const isLeft = await this.store.isLeftForRoom(this.database, message, id);
    return { claimed, left: isLeft ? { ...message, restMs: BUSY_REST_MS } : null };
  }
}

/** Whether a worker that holds `warm` can run a job without loading models. */
export function isWarm({ models }: Pick<DispatchMessage, 'models'>, warm: readonly string[]): boolean {
  return (models ?? []).every((name) => warm.includes(name));
}
