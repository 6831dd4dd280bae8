/**
 * Where an upload stands. `hashing` finds out whether the service has the bytes already; `interrupted` waits for the connection, and
 * goes on by itself.
 */
export interface UploadProgress {
  step: 'hashing' | 'sending' | 'interrupted';
  /** 0 to 1. */
  share: number;
}
