/**
 * The books of the ledger. An entry moves an amount from one book to another:
 *
 * - `available` and `held` are what the service owes an account, free and set aside for a running job;
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
 * The cause that makes a job's transactions unique: one hold, and one end of it, whether that charges (`settle`) or gives
 * everything back (`release`).
 */
export const causeOfHold = (jobId: string): string => `job:${jobId}:hold`;
export const causeOfEnd = (jobId: string): string => `job:${jobId}:end`;
