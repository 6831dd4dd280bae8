/** What was learned of the bytes while they passed. */
export interface BytesDigest {
  /** `blake3:<hex>`. */
  hash: string;
  sizeBytes: number;
  /** The first bytes, at most `HEAD_BYTES`: enough to tell what they are. */
  head: Buffer;
}

/** Bytes that arrived whole and lie where no key names them yet. Ends with `place` or `discard`, whichever is first. */
export interface StagedBytes extends BytesDigest {
  /** Make the bytes appear under `key`, all at once, durably. What was there is replaced. */
  place(key: string): Promise<void>;
  /** Drop the bytes. Without effect after `place`. */
  discard(): Promise<void>;
}
