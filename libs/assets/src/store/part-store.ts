import type { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';
import type { AssembledBytes } from './staged-bytes';

/** One of the pieces in which a large file arrives. Numbers begin with 1; every part but the last has the same size. */
export interface PartSpec {
  number: number;
  sizeBytes: number;
}

/**
 * Collects the parts of large files, in any order and as often as a client sends them, and joins them. Belongs to the port
 * `BlobStore`; every implementation passes `part-store.conformance.ts`. Faults of the store are thrown as BlobStoreError.
 */
export interface PartStore {
  /** Whether `write` has a whole part in memory until it is stored. */
  readonly holdsParts: boolean;
  /** Make room for the parts of one upload. @returns the name by which the store knows it. */
  begin(): Promise<string>;
  /** A link to PUT exactly one part to, without our credentials; null where our own route takes parts, by `write`. */
  link(handle: string, part: PartSpec, expiresSeconds: number): Promise<string | null>;
  /**
   * Store one part. What was there is replaced once the last byte has arrived, and stays when the transfer breaks off.
   *
   * @throws Refusal `invalid_request` when it is not of its size; BlobStoreError `missing` when there is no such upload.
   */
  write(handle: string, part: PartSpec, source: Readable): Promise<void>;
  /** Parts that have arrived; none where there is no such upload any more. */
  list(handle: string): Promise<PartSpec[]>;
  /** True when the parts were joined into one object, and are not listed any more. */
  isAssembled(handle: string): Promise<boolean>;
  /**
   * Join parts 1 to `count`, and read the whole once, with bounded memory. Safe to repeat until the result is discarded.
   *
   * @throws BlobStoreError `missing`.
   */
  assemble(handle: string, count: number): Promise<AssembledBytes>;
  /** Drop what has arrived. Without effect when there is nothing. */
  abort(handle: string): Promise<void>;
}

/** The refusal of a part whose size is not the one that was announced. */
export function wrongSize({ number, sizeBytes }: PartSpec): Refusal {
  return Refusal.ofFields([{ field: 'body', reason: `part ${number} has exactly ${sizeBytes} bytes` }]);
}
