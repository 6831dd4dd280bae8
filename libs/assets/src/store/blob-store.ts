import type { Readable } from 'node:stream';
import type { NoteStore } from './note-store';
import type { PartStore } from './part-store';
import type { StagedBytes } from './staged-bytes';

export type { BytesDigest, StagedBytes } from './staged-bytes';

/** Why a store could not do what it was asked. */
export const BLOB_STORE_FAULTS = ['full', 'too_large', 'missing', 'denied', 'unreachable', 'failed'] as const;
/**
 * `full`: no room left. `too_large`: it takes no object of this size. `missing`: there is nothing under the key. `denied`: the credentials or the file modes that we have do
 * not suffice. `unreachable`: it did not answer, or asked us to come back later. `failed`: anything else.
 */
export type BlobStoreFault = (typeof BLOB_STORE_FAULTS)[number];

/** The store failed, not the request. Callers map it: an upload to `upstream_error`, an output to `output_storage_error`. */
export class BlobStoreError extends Error {
  constructor(
    readonly fault: BlobStoreFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'BlobStoreError';
  }
}

/** Positions of the first and the last byte, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StageOptions {
  /** More bytes than this end the staging with Refusal `payload_too_large`. */
  maxBytes: number;
  /** Called with the number of bytes that have arrived; what it throws ends the staging. Null: go on at once. */
  cover?: ((arrivedBytes: number) => Promise<void> | null) | undefined;
  /** Aborting ends the staging; the source is destroyed. */
  signal?: AbortSignal | undefined;
}

/** How a presigned link answers. */
export interface PresignOptions {
  method: 'GET' | 'HEAD';
  contentType: string;
  /** Value of Content-Disposition. */
  disposition: string;
  expiresSeconds: number;
}

/** An object as a listing shows it. */
export interface StoredObject {
  key: string;
  sizeBytes: number;
  modifiedAt: Date;
}

/** Staged bytes that a process left behind. */
export interface StagedLeftover {
  name: string;
  /** Without effect when they are gone. */
  drop(): Promise<void>;
}

/**
 * Where bytes lie: a flat space of keys, the bytes of each never change. The port between records and storage; every
 * implementation passes `blob-store.conformance.ts`. Faults of the store are thrown as BlobStoreError.
 */
export interface BlobStore {
  readonly kind: 'fs' | 's3';
  /** Memory that one stream takes at most until it is placed, and no more than twice what has arrived; 0 where that is too little to count. */
  readonly stagingBytes: number;
  /** Large files that arrive in parts. */
  readonly parts: PartStore;
  /** What has to outlive the database. */
  readonly notes: NoteStore;
  /** Resolves when the store can be used. @throws BlobStoreError with a sentence for an operator. */
  check(): Promise<void>;
  /**
   * Take in a stream: counted, hashed and written as it arrives, with bounded memory. A chunk belongs to the store once it
   * was yielded. When the source fails, nothing is left behind and its error is thrown as it is.
   */
  stage(source: Readable, options: StageOptions): Promise<StagedBytes>;
  /** Read bytes, all or a range inside the object. @throws BlobStoreError `missing`. */
  open(key: string, range?: ByteRange): Promise<Readable>;
  /** @returns null when there is nothing under the key. */
  stat(key: string): Promise<{ sizeBytes: number } | null>;
  /** Without effect when there is nothing under the key. */
  delete(key: string): Promise<void>;
  /** A link that works without our credentials, for one method only; null where the store cannot be reached from outside. */
  presign(key: string, options: PresignOptions): Promise<string | null>;
  /** Every object that is placed, in no particular order. */
  list(): AsyncIterable<StoredObject>;
  /** Everything that was staged before a time and neither placed nor discarded. */
  stagedBefore(time: Date): AsyncIterable<StagedLeftover>;
  close(): void;
}
