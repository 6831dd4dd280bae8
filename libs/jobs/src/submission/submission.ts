import type { JobMetadata, RetryPolicy } from '@millrace/contracts';
import type { JobPlace } from '../state';

/** A submission that passed every check: what the one writing statement records. */
export interface JobDraft extends JobPlace {
  /**
   * The jobs of an account run, and are listed, in the order of their ids, so PostgreSQL makes them, of its clock: the hosts
   * that submit have different ones. Null: the statement that records the job makes it. Where something is written under the
   * id before that, it comes from `SubmissionStore.newId`.
   */
  id: string | null;
  apiKeyId: string | null;
  /** The same where it is a sub-key by which this was asked for: it is refused once that is revoked. Null: another key, or an operator for it. */
  subKeyId: string | null;
  poolId: string;
  /** The graph as submitted, to the byte. */
  workflow: string;
  nodeCount: number;
  /** Assets that the graph refers to, each once. */
  inputAssetIds: string[];
  metadata: JobMetadata;
  idempotencyKey: string | null;
  weight: number;
  runningLimit: number;
  queueLimit: number;
  /** How long the job is kept, outputs and all. */
  retentionSeconds: number;
  /** Bytes that the account may store. */
  storageBytes: number;
  priceMicrosPerSecond: bigint;
  holdMicros: bigint;
  /** The most that the job may cost; null: what the account has. */
  spendLimitMicros: bigint | null;
  hasSecrets: boolean;
  /** Files of weights that it loads. */
  models: string[];
  /** Files of weights that only the library of its account has, each once: adapters among them. */
  libraryModels: string[];
  /** Finds earlier jobs that asked for the same work; see `workKeyOf`. */
  workKey: bigint;
  /** Finds earlier jobs that asked for exactly the same; null where they do not count. See `reuseKeyOf`. */
  reuseKey: Buffer | null;
  traceparent: string | null;
  /** The batch that it is a part of, and its place there. */
  batch: { id: string; index: number } | null;
  /** Which failures are tried again; null: none but those that the service tries again by itself. */
  retry: RetryPolicy | null;
}
