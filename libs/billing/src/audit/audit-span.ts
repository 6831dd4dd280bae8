/** What the movements of an account sum to. */
export interface BookSums {
  availableMicros: bigint;
  heldMicros: bigint;
  consumedMicros: bigint;
}

export const NOTHING: BookSums = { availableMicros: 0n, heldMicros: 0n, consumedMicros: 0n };

/** Where a round of the audit is: everything of the accounts up to this one is read, or a part of this one's movements. */
export interface AuditPosition {
  accountId: string;
  /** Of an account that is read in parts: up to when, and what its movements until then sum to. Null: it is read whole. */
  part: { reachedAt: Date; sums: BookSums } | null;
}

/** The part of the ledger that one step of the audit reads: movements of these accounts, in a span of time. */
export interface AuditSpan {
  accountIds: string[];
  /** Movements later than this; null: from the first on. */
  after: Date | null;
  /** What the movements up to `after` sum to. */
  sums: BookSums;
  /** Movements up to this, and no later ones; null: up to now. Then the accounts' balances are compared, too. */
  until: Date | null;
}

/** Before the first account. */
export const START: AuditPosition = { accountId: '00000000-0000-0000-0000-000000000000', part: null };
