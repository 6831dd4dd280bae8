/**
 * The books of the ledger. An entry moves an amount from one book to another:
 *
 * - `available` and `held` are what the service owes an account: free, and set aside for a running job;
 * - `revenue` is what was earned;
 * - `promotions` and `payments` are where credits come from: given, or paid for.
 */
export const BOOKS = ['available', 'held', 'revenue', 'promotions', 'payments'] as const;
export type Book = (typeof BOOKS)[number];

/** Why a transaction of the ledger was made. */
export const LEDGER_KINDS = [
  'grant',
  'top_up',
  'hold',
  'extend_hold',
  'settle',
  'release',
  'expire',
  'correction',
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/**
 * What each kind may move, as `from>to`. A `correction` moves back what its original moved; a correction of that one moves
 * it forward again.
 */
export const MOVES: Readonly<Record<LedgerKind, readonly `${Book}>${Book}`[]>> = {
  grant: ['promotions>available'],
  top_up: ['payments>available'],
  hold: ['available>held'],
  extend_hold: ['available>held'],
  settle: ['held>revenue', 'held>available'],
  release: ['held>available'],
  expire: ['available>promotions'],
  correction: [
    'available>promotions',
    'available>payments',
    'payments>available',
    'revenue>available',
    'available>revenue',
  ],
};

/** One line of a transaction: an amount, always above zero, from one book to another. */
export interface Move {
  from: Book;
  to: Book;
  amountMicros: bigint;
}

/** What moves change on an account's balance. `consumed`: what has left the account for good, other than by expiry. */
export function effectOf(
  kind: LedgerKind,
  moves: readonly Move[],
): { availableMicros: bigint; heldMicros: bigint; consumedMicros: bigint } {
  const effect = { availableMicros: 0n, heldMicros: 0n, consumedMicros: 0n };
  for (const { from, to, amountMicros } of moves) {
    if (from === 'available') effect.availableMicros -= amountMicros;
    if (to === 'available') effect.availableMicros += amountMicros;
    if (from === 'held') effect.heldMicros -= amountMicros;
    if (to === 'held') effect.heldMicros += amountMicros;
    if (kind !== 'expire' && isOwed(from) && !isOwed(to)) effect.consumedMicros += amountMicros;
  }
  return effect;
}

const isOwed = (book: Book): boolean => book === 'available' || book === 'held';
