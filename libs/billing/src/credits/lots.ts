/**
 * Credits by their origin, so that some of them can expire. A lot is what one grant or purchase brought; what leaves the
 * account is drawn from its lots, first from the lot that expires first.
 */
export interface Lot {
  /** The transaction that brought it. */
  transactionId: string;
  remainingMicros: bigint;
  /** Null: never. */
  expiresAt: Date | null;
}

type Dated = Pick<Lot, 'transactionId' | 'expiresAt'>;

/** An amount taken from a lot. */
export interface Draw {
  transactionId: string;
  amountMicros: bigint;
}

/** The order in which lots are drawn: by expiry, those without one last; of equals the older first. */
export function byExpiry(a: Dated, b: Dated): number {
  const at = (lot: Dated): number => lot.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
  if (at(a) !== at(b)) return at(a) < at(b) ? -1 : 1;
  return a.transactionId < b.transactionId ? -1 : 1;
}

/**
 * Draw an amount from lots.
 *
 * @throws Error when the lots have less, which an invariant rules out.
 */
export function drawFrom(lots: readonly Lot[], amountMicros: bigint): Draw[] {
  const draws: Draw[] = [];
  let left = amountMicros;
  for (const lot of [...lots].sort(byExpiry)) {
    if (left === 0n) break;
    const amount = least(left, lot.remainingMicros);
    if (amount > 0n) draws.push({ transactionId: lot.transactionId, amountMicros: amount });
    left -= amount;
  }
  if (left > 0n) throw new Error(`the lots lack ${left} micro-credits of what has left the account`);
  return draws;
}

/** What of each lot jobs do not hold, by its transaction. Held credits count as those that expire first, which jobs use first. */
export function notHeld(lots: readonly Lot[], heldMicros: bigint): Map<string, bigint> {
  const free = new Map<string, bigint>();
  let held = heldMicros;
  for (const { transactionId, remainingMicros } of [...lots].sort(byExpiry)) {
    const kept = least(held, remainingMicros);
    held -= kept;
    free.set(transactionId, remainingMicros - kept);
  }
  return free;
}

/** Lots after draws. */
export function afterDraws(lots: readonly Lot[], draws: readonly Draw[]): Lot[] {
  const taken = new Map(draws.map((draw) => [draw.transactionId, draw.amountMicros]));
  return lots.map((lot) => ({
    ...lot,
    remainingMicros: lot.remainingMicros - (taken.get(lot.transactionId) ?? 0n),
  }));
}

/**
 * What expires of an account's lots now. Held credits count as those that expire first, so that a job keeps the credits it was
 * accepted on: that part stays until the hold ends, and expires when it is released. After `graceMs`, the longest life of a
 * job, every hold from before the expiry has ended: from then on the whole lot expires, or an account that always holds
 * something would never lose anything.
 *
 * @param lots all lots of the account, with everything drawn that has left it.
 */
export function expiring(
  lots: readonly Lot[],
  balance: { availableMicros: bigint; heldMicros: bigint },
  now: Date,
  graceMs: number,
): Draw[] {
  const draws: Draw[] = [];
  let { availableMicros: available, heldMicros: held } = balance;
  for (const lot of [...lots].sort(byExpiry)) {
    if (lot.expiresAt === null || lot.expiresAt > now) break;
    const overdue = lot.expiresAt.getTime() + graceMs <= now.getTime();
    const kept = overdue ? 0n : least(held, lot.remainingMicros);
    const amount = least(lot.remainingMicros - kept, available);
    if (amount > 0n) draws.push({ transactionId: lot.transactionId, amountMicros: amount });
    available -= amount;
    held -= lot.remainingMicros - amount;
  }
  return draws;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
