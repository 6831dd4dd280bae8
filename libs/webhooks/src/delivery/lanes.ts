import { BoundedMap } from '@millrace/platform';
import type { ClaimedMessage, ClaimRoom, Lane } from '../messages';

/** Attempts at once in one process. */
export const ATTEMPTS_AT_ONCE = 128;
/** Of one endpoint. */
export const ATTEMPTS_PER_ENDPOINT = 4;
/** Of all endpoints of one account. */
export const ATTEMPTS_PER_ACCOUNT = 16;
/** Of those of one account that are slow: the others of the account have the rest at any time. */
const SLOW_PER_ACCOUNT = ATTEMPTS_PER_ACCOUNT / 2;
/** Endpoints that took longer for an answer share half of the attempts, so that the other half is quick at any time. */
const SLOW_MS = 2_000;
export const SLOW_AT_ONCE = ATTEMPTS_AT_ONCE / 2;
/** After a slow answer: one that is quick again in between may be slow for the next. */
export const SLOW_FOR_MS = 600_000;
const SLOW_REMEMBERED = 1_000;

type Receiver = Pick<ClaimedMessage, 'endpointId' | 'accountId'>;

/**
 * How many attempts are under way, by endpoint and account: what keeps a slow receiver, or the receivers of one account, from taking the places
 * of all others. Only what is under way takes a place.
 */
export class Lanes {
  private readonly endpoints = new Map<string, number>();
  private readonly accounts = new Map<string, number>();
  /** Endpoints that were slow, whose they are, and until when they count as such. */
  private readonly slow = new BoundedMap<{ accountId: string; untilMs: number }>(SLOW_REMEMBERED);
  private total = 0;
  /** The endpoint of each lane that had its turn last; null: the first is next. */
  private readonly after: Record<Lane, string | null> = { quick: null, slow: null };

  /** @param nowMs a clock that never goes back. */
  constructor(private readonly nowMs = (): number => performance.now()) {}

  begin({ endpointId, accountId }: Receiver): void {
    this.total += 1;
    add(this.endpoints, endpointId, 1);
    add(this.accounts, accountId, 1);
  }

  end({ endpointId, accountId }: Receiver, durationMs: number): void {
    this.total -= 1;
    add(this.endpoints, endpointId, -1);
    add(this.accounts, accountId, -1);
    if (durationMs > SLOW_MS) this.slow.set(endpointId, { accountId, untilMs: this.nowMs() + SLOW_FOR_MS });
  }

  /** What may be claimed now. */
  room(lane: Lane): ClaimRoom {
    this.forgetQuick();
    const left = ATTEMPTS_AT_ONCE - this.total;
    const slowUnderWay = this.slowUnderWay();
    const slowLeft = SLOW_AT_ONCE - sum(slowUnderWay.values());
    const accounts = leftOf(this.accounts, ATTEMPTS_PER_ACCOUNT);
    return {
      lane,
      // Where none is slow, there is nothing to look for.
      total: lane === 'quick' ? left : this.slow.size === 0 ? 0 : Math.min(left, slowLeft),
      perEndpoint: ATTEMPTS_PER_ENDPOINT,
      perAccount: lane === 'quick' ? ATTEMPTS_PER_ACCOUNT : SLOW_PER_ACCOUNT,
      slow: [...this.slow.keys()],
      endpoints: leftOf(this.endpoints, ATTEMPTS_PER_ENDPOINT),
      accounts: lane === 'quick' ? accounts : slowLeftOf(accounts, slowUnderWay),
      after: this.after[lane],
    };
  }

  /** Go on behind what was claimed, or from the beginning where nothing was. */
  turn({ lane }: ClaimRoom, claimed: readonly Receiver[]): void {
    this.after[lane] = claimed.reduce<string | null>(
      (last, { endpointId }) => (last === null || endpointId > last ? endpointId : last),
      null,
    );
  }

  private forgetQuick(): void {
    const nowMs = this.nowMs();
    for (const [id, { untilMs }] of [...this.slow.entries()]) if (untilMs <= nowMs) this.slow.delete(id);
  }

  /** Attempts under way of slow endpoints, by account. */
  private slowUnderWay(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const [id, { accountId }] of this.slow.entries()) {
      const count = this.endpoints.get(id) ?? 0;
      if (count > 0) counts.set(accountId, (counts.get(accountId) ?? 0) + count);
    }
    return counts;
  }
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((total, count) => total + count, 0);

function add(counts: Map<string, number>, id: string, change: 1 | -1): void {
  const count = (counts.get(id) ?? 0) + change;
  if (count === 0) counts.delete(id);
  else counts.set(id, count);
}

const leftOf = (counts: ReadonlyMap<string, number>, most: number): Map<string, number> =>
  new Map(Array.from(counts, ([id, count]) => [id, Math.max(0, most - count)]));

/** Of accounts that have any under way: their places are those that both lanes leave, and of the slow lane those of it. */
const slowLeftOf = (left: ReadonlyMap<string, number>, slow: ReadonlyMap<string, number>): Map<string, number> =>
  new Map(
    Array.from(left, ([id, count]) => [id, Math.max(0, Math.min(count, SLOW_PER_ACCOUNT - (slow.get(id) ?? 0)))]),
  );
