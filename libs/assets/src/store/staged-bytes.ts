/** What was found out about bytes while they passed. */
export interface BytesDigest {
  /** `blake3:<hex>`. */
  hash: string;
  sizeBytes: number;
  /** The first bytes, at most `HEAD_BYTES`: enough to recognise their type. */
  head: Buffer;
}

/** Bytes that have arrived whole and have no key yet. The first call of `place` or `discard` ends them. */
export interface StagedBytes extends BytesDigest {
  /**
   * Make the bytes durable, so that `place`, which need not be called after it, takes less long. Absent where that cannot begin without a key. It may
   * turn out to have been in vain, so more than a few MiB are left to `place`. What goes wrong here, goes wrong there too.
   */
  flush?(): Promise<void>;
  /** Make the bytes appear under `key`, atomically and durably. What was there is replaced. */
  place(key: string): Promise<void>;
  /** Drop the bytes. Without effect after `place`. */
  discard(): Promise<void>;
}

/** The joined parts of an upload. Unlike staged bytes they outlive `place`, so that what follows it can be tried again. */
export interface AssembledBytes extends BytesDigest {
  /** Make the bytes appear under `key`, atomically and durably. At most once; what arrived stays until `discard`. */
  place(key: string): Promise<void>;
  /** Drop what only joining made. The upload can be assembled again. */
  release(): Promise<void>;
  /** Drop all that arrived. */
  discard(): Promise<void>;
}
