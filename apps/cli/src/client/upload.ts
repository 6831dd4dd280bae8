/** A file that is about to be uploaded. */
export interface FileToUpload {
  path: string;
  /** Bytes that are sent; a file that grows meanwhile is sent as it was. */
  sizeBytes: number;
  fileName: string;
  contentType: string;
  /** `blake3:` and 64 hexadecimal digits. */
  hash: string;
}

export interface UploadOptions {
  contentType?: string;
  tags?: string[];
  expiresInSeconds?: number;
  signal?: AbortSignal;
  watcher?: UploadWatcher;
}

/** Learns how far an upload is. */
export interface UploadWatcher {
  /** So many bytes of the whole file have been read to compute its hash, or sent. */
  moved(step: 'reading' | 'sending', bytes: number, wholeBytes: number): void;
  /** What was sent last did not arrive; it is sent again after a pause. */
  interrupted(reason: string): void;
}
