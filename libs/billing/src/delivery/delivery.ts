/** `failed`: a test that did not succeed, or what waited when its destination was removed. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What a file adds up to, and the SHA-256 of its bytes. */
export interface FileFacts {
  rows: bigint;
  chargedMicros: bigint;
  sizeBytes: number;
  sha256: Buffer;
}

/** One attempt to write, as it is logged. */
export interface LoggedAttempt {
  attempt: number;
  at: Date;
  /** Null where it succeeded. */
  error: string | null;
  durationMs: number;
}

/** A day of an account that is written, or a test, with its last attempts, the first one first. */
export interface ExportDelivery {
  id: string;
  /** `yyyy-mm-dd`; null: a test. */
  day: string | null;
  state: DeliveryState;
  createdAt: Date;
  /** When the next attempt is made, or the one under way has to have ended; null where there is none. */
  dueAt: Date | null;
  endedAt: Date | null;
  /** Where the files are, such as `s3://bucket/prefix/`; null until they are written. */
  location: string | null;
  usageRows: bigint | null;
  usageMicros: bigint | null;
  ledgerRows: bigint | null;
  ledgerMicros: bigint | null;
  attempts: LoggedAttempt[];
}
