/**
 * Short texts beside the blobs, by name: what has to be known after the database was restored to an earlier moment. A name is parts of
 * letters, digits, `-` and `_` between slashes. Faults of the store are thrown as BlobStoreError.
 */
export interface NoteStore {
  /** Write a note, whole and durable, over one of the same name. */
  put(name: string, text: string): Promise<void>;
  /** @returns null when there is none of this name. */
  get(name: string): Promise<string | null>;
  /** The notes whose names begin with a folder, e.g. `erasures/`, in no particular order. */
  list(folder: string): AsyncIterable<StoredNote>;
  /** Without effect when there is none. */
  delete(name: string): Promise<void>;
}

export interface StoredNote {
  name: string;
  /** When it was last written, by the clock of the store. */
  modifiedAt: Date;
}
