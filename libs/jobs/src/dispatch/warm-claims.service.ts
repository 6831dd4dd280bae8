import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
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
}

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
 * models of an attempt, what is on a disk counts too. A claim stays the one guarded statement.
 */
export class WarmClaims {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<WarmClaimStore, 'choose'>,
    private readonly lifecycle: Pick<Lifecycle, 'claim'>,
    private readonly dispatcher: Pick<Dispatcher, 'passOn'>,
  ) {}

  /**
   * Claim the attempt of a message, or one in the lane that suits the worker better. One statement where no models are named
   * or all of them are held.
   */
  async take(message: DispatchMessage, worker: ClaimingWorker): Promise<ClaimResult> {
    const claim = (wanted: DispatchMessage): Promise<ClaimedAttempt | null> =>
      this.lifecycle.claim(wanted, worker.id, worker.poolId);
    if (isWarm(message, worker.warm)) return { claimed: await claim(message), left: null };
    const { disk = [], id: workerId, poolId, warm } = worker;
    const { instead, hasWarmWorker } = await this.store.choose(this.database, {
      poolId,
      workerId,
      warm,
      disk,
      message,
    });
    const better = instead === null ? null : await claim(instead);
    if (better !== null) {
      // The worker keeps its message until its engine is free again: others need one of their own now.
      void this.dispatcher.passOn(worker.poolId, message);
      return { claimed: better, left: null };
    }
    if (hasWarmWorker) return { claimed: null, left: message };
    return { claimed: await claim(message), left: null };
  }
}

/** Whether a worker that holds `warm` can run a job without loading models. */
export function isWarm({ models }: Pick<DispatchMessage, 'models'>, warm: readonly string[]): boolean {
  return (models ?? []).every((name) => warm.includes(name));
}
