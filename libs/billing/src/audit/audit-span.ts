/** What the movements of an account sum to. */
export interface BookSums {
  availableMicros: bigint;
  heldMicros: bigint;
  consumedMicros: bigint;
}

const DAY_MS = 86_400_000;

export const NOTHING: BookSums = { availableMicros: 0n, heldMicros: 0n, consumedMicros: 0n };

/** What a part has of the day in which it ends: of movements, and of usage. */
export interface DaySums {
  ends: Date;
  /** In micro-credits, in the order of `LINE_COLUMNS`. */
  lines: bigint[];
  ledgerRows: bigint;
  /** Charged. */
  ledgerMicros: bigint;
  usageRows: bigint;
  usageMicros: bigint;
}

/** A movement of `at` belongs to the day (UTC) that ends then. */
export function dayEnd(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS + DAY_MS);
}

/** Where a round of the audit is: everything of the accounts up to this one is read, or a part of this one's movements. */
export interface AuditPosition {
  accountId: string;
  /**
   * Of an account that is read in parts: up to when, what its movements until then sum to, and those of that day. Null: it is read whole. `day` is null
   * where nobody summed it: a process of an earlier version read the part before.
   */
  part: { reachedAt: Date; sums: BookSums; day: DaySums | null } | null;
}

/** The part of the ledger that one step of the audit reads: movements of these accounts, in a span of time. */
export interface AuditSpan {
  accountIds: string[];
  /** Movements later than this; null: from the first on. */
  after: Date | null;
  /** What the movements up to `after` sum to. */
  sums: BookSums;
  /** What those of the day in which `after` is sum to, up to it; null: unknown, or `after` is. */
  day: DaySums | null;
  /** Movements up to this, and no later ones; null: up to now. Then the accounts' balances are compared, too. */
  until: Date | null;
}

/** Before the first account. */
export const START: AuditPosition = { accountId: '00000000-0000-0000-0000-000000000000', part: null };
