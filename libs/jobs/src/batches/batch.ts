import type { BatchFault, JobStatus } from '@millrace/contracts';
import type { JobPlace, JobScope } from '../state';

/** What is recorded of a batch beside its jobs. */
export interface BatchDraft extends JobScope {
  id: string;
  idempotencyKey: string | null;
  /** SHA-256 of the body. */
  requestHash: Uint8Array;
  /** Jobs that were asked for. */
  itemCount: number;
  /** Jobs that are recorded. */
  jobCount: number;
  /** Why others are not, the first of them. */
  refused: BatchFault[];
  retentionSeconds: number;
}

/** A batch with the present state of its jobs. */
export interface BatchRecord extends JobPlace {
  id: string;
  itemCount: number;
  jobCount: number;
  /** Why others are not, the first of them: as many as the reading shows. */
  refused: BatchFault[];
  /** How often jobs of it were tried again. */
  retries: number;
  createdAt: Date;
  expiresAt: Date;
  /** Jobs in each state that any is in; those that are gone are in none. */
  counts: Partial<Record<JobStatus, number>>;
  /** What the ended jobs cost, those that were tried again among them, in micro-credits. */
  chargedMicros: number;
  /** Jobs that have ended, those that are gone among them. */
  ended: number;
  /** When the last of them ended; null while any has not. */
  completedAt: Date | null;
}

/** A job of a batch, and its place there from 0. */
export interface BatchPlace {
  jobId: string;
  index: number;
  /** How many it has so far. */
  outputs: number;
}
