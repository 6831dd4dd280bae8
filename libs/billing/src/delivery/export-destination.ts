import type { Readable } from 'node:stream';

/** A bucket of the account, with the credentials that it gave for it. */
export interface ExportBucket {
  bucket: string;
  region: string;
  /** Null: AWS's own of the region. */
  endpoint: string | null;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Why nothing is written. `failing`: no attempt succeeded for three days. */
export const EXPORT_DISABLED_REASONS = ['by_owner', 'failing'] as const;
export type ExportDisabledReason = (typeof EXPORT_DISABLED_REASONS)[number];

/** Where an account has its daily exports written, without what only the writer may know. */
export interface ExportDestination {
  accountId: string;
  /** Null: the service's own. */
  bucket: string | null;
  region: string | null;
  endpoint: string | null;
  accessKeyId: string | null;
  prefix: string;
  createdAt: Date;
  updatedAt: Date;
  /** The first failed attempt since the last that succeeded; null where the last one did. */
  failingSince: Date | null;
  /** Null while files are written. */
  disabledAt: Date | null;
  disabledReason: ExportDisabledReason | null;
}

/** What its owner decides. A null `target` is the service's own bucket. */
export interface DestinationDraft {
  target: ExportBucket | null;
  /** What names of files begin with: empty, or ending with `/`. */
  prefix: string;
}

/** An object to write. */
export interface ObjectDraft {
  name: string;
  contentType: string;
  bytes: Readable;
}

/** Writes to buckets that accounts name. The process that knows stores provides it. */
export interface ObjectWriter {
  /**
   * Write one object, whole or not at all, over one of the same name.
   *
   * @param target null: the service's own bucket.
   * @returns null when it is written; else why not, in a sentence for the owner of the bucket.
   * @throws what reading `bytes` throws.
   */
  write(target: ExportBucket | null, object: ObjectDraft, signal: AbortSignal): Promise<string | null>;
  close(): Promise<void>;
}

/** Where objects of an account begin in the service's bucket: nobody's names meet those of another. */
export const ownPrefix = (accountId: string): string => `exports/${accountId}/`;

/** Where the files are, as people write it. */
export function locationOf({ bucket, prefix }: { bucket: string; prefix: string }): string {
  return `s3://${bucket}/${prefix}`;
}
