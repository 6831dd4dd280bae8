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
  /** Make the bytes appear under `key`, atomically and durably. What was there is replaced. */
  place(key: string): Promise<void>;
  /** Drop the bytes. Without effect after `place`. */
  discard(): Promise<void>;
}
