/** The terms of an upload beside its fields. */
export interface UploadTerms {
  /** Single-use key of the request, if it carries one. */
  idempotency?: { key: string; lifetimeSeconds: number } | undefined;
  /** Bytes that the account may upload on one day (UTC); null: no limit. */
  uploadBytesPerDay: number | null;
  /** Bytes that the account may store; null or absent: the service's limit. */
  storageBytes?: number | null | undefined;
  /** A second budget of the day, which the upload shares with those of other accounts; it is counted at that one. */
  sharedUploads?: { accountId: string; bytesPerDay: number } | undefined;
  /** The resumable upload by which these bytes arrived; this upload completes it. */
  resumableId?: string | undefined;
}

/** What is known about an upload before its bytes. */
export interface UploadAhead {
  /** Size of the whole body that the request declares; null when it declares none. */
  declaredBytes: number | null;
  /** Key of the request, if it carries one. */
  idempotencyKey: string | undefined;
}
