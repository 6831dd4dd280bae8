import type { BusyAccount } from './account-queue.store';

/** Accounts of one weight that have jobs waiting. */
interface Peers {
  /** How many jobs each has waiting, ascending. */
  waiting: number[];
  /** `sums[n]`: of the first n of `waiting` together. */
  sums: number[];
}

/**
 * A pool's rotation at one moment, in a shape in which finding a place takes the logarithm of the number of accounts: every
 * submission asks for one.
 */
export class RotationSnapshot {
  /** Jobs waiting in the pool. */
  readonly waiting: number;
  private readonly accounts: ReadonlyMap<string, BusyAccount>;
  private readonly peers = new Map<number, Peers>();

  constructor(busy: readonly BusyAccount[]) {
    this.accounts = new Map(busy.map((account) => [account.accountId, account]));
    const weights = new Map<number, number[]>();
    for (const { weight, waiting } of busy) {
      const same = weights.get(weight);
      if (same === undefined) weights.set(weight, [waiting]);
      else same.push(waiting);
    }
    for (const [weight, waiting] of weights) this.peers.set(weight, peersOf(waiting));
    this.waiting = busy.reduce((sum, account) => sum + account.waiting, 0);
  }

  /** Jobs of an account that wait in the pool. */
  waitingOf(accountId: string): number {
    return this.accounts.get(accountId)?.waiting ?? 0;
  }

  /**
   * The place of an account's job: after its own jobs before it, and after as many of every other account as have their
   * turn meanwhile. An account of weight `o` has them in proportion to its weight.
   *
   * @param ahead jobs of its own account before it.
   * @returns 1 for the next to start.
   */
  positionOf(accountId: string, ahead: number): number {
    const own = this.accounts.get(accountId);
    const weight = own?.weight ?? 1;
    const turns = ahead + 1;
    let position = turns;
    for (const [other, peers] of this.peers) position += atMost(peers, Math.ceil((turns * other) / weight) - 1);
    return own === undefined ? position : position - Math.min(own.waiting, turns - 1);
  }
}

function peersOf(unsorted: number[]): Peers {
  const waiting = unsorted.sort((a, b) => a - b);
  const sums = [0];
  let sum = 0;
  for (const count of waiting) sums.push((sum += count));
  return { waiting, sums };
}

/** The jobs of all peers together when each is served at most `limit`. */
function atMost({ waiting, sums }: Peers, limit: number): number {
  let [from, to] = [0, waiting.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((waiting[middle] ?? 0) <= limit) from = middle + 1;
    else to = middle;
  }
  return (sums[from] ?? 0) + limit * (waiting.length - from);
}
