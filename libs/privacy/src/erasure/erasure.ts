import type { ErasureState, ErasureSubject } from '@millrace/contracts';

/** What an erasure has come to so far: how many of each kind are gone, or name nobody any more. */
export const ERASURE_COUNTS = [
  'jobs',
  'batches',
  'assets',
  'uploads',
  'models',
  'blobs',
  'label_rules',
  'webhook_messages',
  'usage_records',
  'ledger_reasons',
  'audit_entries',
  'api_keys',
] as const;
export type ErasureCounts = Partial<Record<(typeof ERASURE_COUNTS)[number], number>>;

/** A request for erasure, and how far it is. */
export interface Erasure {
  id: string;
  accountId: string;
  subject: ErasureSubject['kind'];
  jobId: string | null;
  label: string | null;
  /** Null once it is done: then it is forgotten, too. */
  value: string | null;
  /** What stands in the books instead. */
  pseudonym: string;
  state: ErasureState;
  /** The step that it is at. */
  step: string;
  counts: ErasureCounts;
  requestedBy: string;
  requestedAt: Date;
  startedAt: Date | null;
  doneAt: Date | null;
}

/** The right to do the next step of an erasure, and what that needs to know. */
export interface ErasureLease extends Pick<Erasure, 'id' | 'accountId' | 'pseudonym' | 'step' | 'counts'> {
  leaseToken: string;
  subject: ErasureSubject;
  /** How far the step is; null at its beginning. */
  place: string | null;
  /** When no process begins anything of its subject any more: then all keys that ended with its request have left every cache. */
  settlesAt: Date;
  /** That time has come. */
  isSettled: boolean;
}
