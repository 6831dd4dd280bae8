import { BoundedMap } from '@millrace/platform';
import type { ClaimRoom } from '../messages';

/** Attempts at once in one process. */
const ATTEMPTS_AT_ONCE = 128;
/** Of one endpoint. */
export const ATTEMPTS_PER_ENDPOINT = 4;
/** Endpoints that took longer for their last answer share half of the attempts, so that the other half is quick at any time. */
const SLOW_MS = 2_000;
const SLOW_AT_ONCE = ATTEMPTS_AT_ONCE / 2;
const SLOW_REMEMBERED = 1_000;

/** How many attempts are under way, by endpoint: what keeps a slow one from taking the places of all others. */
export class Lanes {
  private readonly sending = new Map<string, number>();
  /** Endpoints that were slow. */
  private readonly slow = new BoundedMap<true>(SLOW_REMEMBERED);
  private total = 0;

  begin(endpointId: string): void {
    this.total += 1;
    this.sending.set(endpointId, this.sendingTo(endpointId) + 1);
  }

  end(endpointId: string, durationMs: number): void {
    this.total -= 1;
    const left = this.sendingTo(endpointId) - 1;
    if (left === 0) this.sending.delete(endpointId);
    else this.sending.set(endpointId, left);
    this.slow.delete(endpointId);
    if (durationMs > SLOW_MS) this.slow.set(endpointId, true);
  }

  /** What may be claimed now. */
  room(): Omit<ClaimRoom, 'after'> {
    const exceptions = new Map<string, number>();
    for (const [id, count] of this.sending) exceptions.set(id, ATTEMPTS_PER_ENDPOINT - count);
    // Who was served longest ago comes first.
    const slow = [...this.slow.rkeys()];
    let left = SLOW_AT_ONCE - slow.reduce((sum, id) => sum + this.sendingTo(id), 0);
    for (const id of slow) {
      const room = Math.max(0, Math.min(left, ATTEMPTS_PER_ENDPOINT - this.sendingTo(id)));
      exceptions.set(id, room);
      left -= room;
    }
    return { total: ATTEMPTS_AT_ONCE - this.total, perEndpoint: ATTEMPTS_PER_ENDPOINT, exceptions };
  }

  private sendingTo(endpointId: string): number {
    return this.sending.get(endpointId) ?? 0;
  }
}
