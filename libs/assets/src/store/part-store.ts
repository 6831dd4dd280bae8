import type { Readable } from 'node:stream';
import type { StagedBytes } from './staged-bytes';

/** One of the pieces in which a large file arrives. Numbers begin with 1; every part but the last has the same size. */
export interface PartSpec {
  number: number;
  sizeBytes: number;
}

/**
 * Where the parts of one upload are gathered, in any order and as often as a client wants, until they are put together. Part
 * of the port `BlobStore`, and held to `part-store.conformance.ts`. Faults of the store are thrown as BlobStoreError.
 */
export interface PartStore {
  /** Make room for the parts of one upload. @returns the name by which the store knows it. */
  begin(): Promise<string>;
  /** A link to PUT exactly one part to, without our credentials; null where our own route takes parts, by `write`. */
  link(handle: string, part: PartSpec, expiresSeconds: number): Promise<string | null>;
  /**
   * Take in one part, all at once: what was there is replaced when the last byte has arrived, and stays if it does not.
   *
   * @throws Refusal `invalid_request` when it is not of its size; BlobStoreError `missing` when there is no such upload.
   */
  write(handle: string, part: PartSpec, source: Readable): Promise<void>;
  /** Parts that have arrived; none where there is no such upload any more. */
  list(handle: string): Promise<PartSpec[]>;
  /** True when the parts were put together, and nothing came of it yet. */
  isAssembled(handle: string): Promise<boolean>;
  /**
   * Put parts 1 to `count` together, and read the whole once, with bounded memory. Safe to repeat when it broke off. The
   * parts are gone when what it returns was placed or discarded.
   *
   * @throws BlobStoreError `missing`.
   */
  assemble(handle: string, count: number): Promise<StagedBytes>;
  /** Drop what has arrived. Without effect when there is nothing. */
  abort(handle: string): Promise<void>;
}
