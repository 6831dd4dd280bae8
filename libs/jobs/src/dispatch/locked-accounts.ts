import { isLockTimeout } from '@millrace/database';
import type { Turn } from '../rotation';

/** How long a turn waits for an account that was skipped: many times what a submission or an end holds its lock. */
const WAIT_MS = 50;
/** Turns that skip at most before one waits. */
const MAX_SKIPS = 64;

const NOBODY: Turn = { job: null, inFlight: 0, found: null, skipped: true };

type Turns = [Turn, ...Turn[]];

/**
 * Which turns of a pool wait for an account that another statement has locked. One that is skipped has its turn next: the turn
 * after waits for it, because an account that submits all the time is locked nearly all the time. If that is in vain, its lock
 * is held for long, and it is waited for half as often, then a quarter, so that it costs the others little.
 */
export class LockedAccounts {
  private skips = 0;
  private skipsBeforeWait = 1;

  /** @param take takes turns that wait so long; 0: not at all. */
  async turns(take: (waitMs: number) => Promise<Turns>): Promise<Turns> {
    const isToWait = this.skips >= this.skipsBeforeWait;
    try {
      const turns = await take(isToWait ? WAIT_MS : 0);
      // An account that was skipped and is locked no more has had one of the turns after.
      const { job, skipped } = turns.at(-1) ?? turns[0];
      if (isToWait && job !== null) this.skipsBeforeWait = 1;
      this.skips = skipped && !isToWait ? this.skips + 1 : 0;
      return turns;
    } catch (error) {
      if (!isToWait || !isLockTimeout(error)) throw error;
      this.skips = 0;
      this.skipsBeforeWait = Math.min(this.skipsBeforeWait * 2, MAX_SKIPS);
      return [NOBODY];
    }
  }
}
