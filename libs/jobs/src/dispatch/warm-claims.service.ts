import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Dispatcher } from './dispatcher';
import type { ClaimedAttempt } from '../state/job';
import type { Lifecycle } from '../lifecycle/lifecycle.service';
import type { WarmClaimStore } from './warm-claim.store';

/** Who takes hints from a pool's lane. */
export interface ClaimingWorker {
  id: string;
  poolId: string;
  /** Files of weights that it holds. */
  warm: readonly string[];
}

/** What became of a hint. */
export interface TakenHint {
  /** What the worker is to run now. */
  claimed: ClaimedAttempt | null;
  /** To be offered to others once the worker is done with its hint. */
  left: DispatchMessage | null;
}

/**
 * Claims attempts with an eye on the models that a worker holds: loading them may take longer than the run. Dispatching
 * stays what decides whose turn it is; among what it has put into a lane, a worker prefers what it need not load anything
 * for, and leaves what another, idle worker holds the models of to that one. Claiming stays the guarded statement it is.
 */
export class WarmClaims {
  constructor(
    private readonly database: Statements,
    private readonly store: WarmClaimStore,
    private readonly lifecycle: Pick<Lifecycle, 'claim'>,
    private readonly dispatcher: Pick<Dispatcher, 'passOn'>,
  ) {}

  /**
   * Take a hint up: its own attempt, or one in the lane that suits the worker better. One statement where no models are
   * named or all of them are held.
   */
  async take(hint: DispatchMessage, worker: ClaimingWorker): Promise<TakenHint> {
    if (isWarm(hint, worker.warm)) return { claimed: await this.lifecycle.claim(hint, worker.id), left: null };
    const offer = { poolId: worker.poolId, workerId: worker.id, warm: worker.warm, hint };
    const { instead, hasWarmWorker } = await this.store.choose(this.database, offer);
    const better = instead === null ? null : await this.lifecycle.claim(instead, worker.id);
    if (better !== null) {
      // The worker sits on its hint until its engine is free again, so that others must hear of it now.
      void this.dispatcher.passOn(worker.poolId, hint);
      return { claimed: better, left: null };
    }
    if (hasWarmWorker) return { claimed: null, left: hint };
    return { claimed: await this.lifecycle.claim(hint, worker.id), left: null };
  }
}

/** Whether a worker that holds `warm` can run what a hint is about without loading models. */
export function isWarm(hint: Pick<DispatchMessage, 'models'>, warm: readonly string[]): boolean {
  return (hint.models ?? []).every((name) => warm.includes(name));
}
