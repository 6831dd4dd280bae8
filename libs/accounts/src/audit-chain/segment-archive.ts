/** An object to keep. */
export interface ArchivedObject {
  name: string;
  contentType: string;
  bytes: Buffer;
}

/**
 * Where sealed segments are kept outside of the database. The process that knows stores provides it. What it throws is an Error whose
 * message is a sentence for the operator.
 */
export interface SegmentArchive {
  /** Write one object, whole or not at all, kept for as long as the operator wants it to be. @throws when it is not written. */
  write(object: ArchivedObject): Promise<void>;
  /** An object as it is; null where there is none of this name. @throws when that cannot be found out. */
  read(name: string): Promise<Buffer | null>;
  /** Names that begin so, `limit` at most, in their order. @throws when that cannot be found out. */
  list(prefix: string, limit: number): Promise<string[]>;
  close(): void;
}
