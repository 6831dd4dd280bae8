import { BoundedMap } from '@millrace/platform';
import type { ClaimRoom, ClaimedDelivery, Lane } from './claim.store';

/** Deliveries at once in one process, and of these in the slow lane. */
const AT_ONCE = 6;
const SLOW_AT_ONCE = 3;
/** A destination whose last attempt took longer is slow, until one takes less. */
const SLOW_MS = 30_000;
const SLOW_REMEMBERED = 1_000;

/** The places in which a process writes. An account has one of them at a time, and accounts have their turns one after the other. */
export class Places {
  /** Accounts for which something is being written. */
  private readonly taken = new Map<string, Lane>();
  private readonly slow = new BoundedMap<true>(SLOW_REMEMBERED);
  /** The account of each lane that had its turn last. */
  private readonly after: Record<Lane, string | null> = { quick: null, slow: null };

  begin(accountId: string, lane: Lane): void {
    this.taken.set(accountId, lane);
  }

  end(accountId: string, durationMs: number): void {
    this.taken.delete(accountId);
    this.slow.delete(accountId);
    if (durationMs > SLOW_MS) this.slow.set(accountId, true);
  }

  /** What may be claimed now. */
  room(lane: Lane): ClaimRoom {
    const left = AT_ONCE - this.taken.size;
    const slow = [...this.taken.values()].filter((other) => other === 'slow').length;
    const limit = lane === 'slow' ? Math.min(left, SLOW_AT_ONCE - slow) : left;
    return { lane, limit, slow: [...this.slow.keys()], taken: [...this.taken.keys()], after: this.after[lane] };
  }

  /** Go on behind what was claimed in a room that was not empty, or from the beginning when all had their turn. */
  turn({ lane, limit }: ClaimRoom, claimed: readonly Pick<ClaimedDelivery, 'accountId'>[]): void {
    const last = claimed
      .map(({ accountId }) => accountId)
      .sort()
      .at(-1);
    this.after[lane] = claimed.length < limit ? null : (last ?? null);
  }
}
