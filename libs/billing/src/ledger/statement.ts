/** A month of an account's credits, UTC. It adds up: opening + all movements = closing. */
export interface Statement {
  from: Date;
  /** The first moment that is no longer part of it. */
  to: Date;
  /** True when the month is over: nothing more is posted to it. */
  final: boolean;
  /** Available and held together, at the beginning and at the end (of the month, or until now). */
  openingMicros: bigint;
  closingMicros: bigint;
  /** Movements with their sign: above zero adds, below zero takes. */
  grantsMicros: bigint;
  topUpsMicros: bigint;
  chargesMicros: bigint;
  expiriesMicros: bigint;
  correctionsMicros: bigint;
}

/** A posting has the time at which its transaction began; one that was under way at midnight has ended by then. */
export const SETTLED_AFTER_MS = 10 * 60_000;

/** The span of a month given as `yyyy-mm`, UTC; null when it is none. */
export function monthSpan(month: string): { from: Date; to: Date } | null {
  const match = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month);
  if (match === null) return null;
  const [year, index] = [Number(match[1]), Number(match[2]) - 1];
  if (year < 2000) return null;
  return { from: new Date(Date.UTC(year, index)), to: new Date(Date.UTC(year, index + 1)) };
}

/** True when nothing can be posted to a span that ended at `to` any more. */
export function isFinal(to: Date, now: Date): boolean {
  return now.getTime() >= to.getTime() + SETTLED_AFTER_MS;
}
