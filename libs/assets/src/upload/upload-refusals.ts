import { Refusal } from '@millrace/contracts';
import { KEY_REUSED, RefusedError } from '@millrace/database';
import { BlobStoreError } from '../store';
import { SHARED_UPLOAD_LIMIT, UPLOAD_LIMIT } from './upload-day.store';
import type { UploadTerms } from './upload-terms';

const OPEN_RETRY_SECONDS = 60;
/** Parts named in a refusal; the upload itself lists them all. */
const NAMED_PARTS = 100;

/** The refusal that a refused transaction of an upload means; every other error is passed on. */
export function refusalOf(error: unknown, terms: UploadTerms | undefined): unknown {
  if (!(error instanceof RefusedError)) return error;
  if (error.reason === KEY_REUSED) return keyReused();
  if (error.reason === SHARED_UPLOAD_LIMIT)
    return uploadsUsedUp(terms?.sharedUploads?.bytesPerDay ?? 0, 'All callers together');
  return error.reason === UPLOAD_LIMIT ? uploadsUsedUp(terms?.uploadBytesPerDay ?? 0) : error;
}

/** The key of this upload was used for an earlier one (contract 2.4). */
export function keyReused(): Refusal {
  return new Refusal(
    KEY_REUSED,
    'This Idempotency-Key was used for an earlier upload. This one created nothing. The asset of that one exists unless it was deleted or has ' +
      'expired: POST /api/v2/assets/from-hash with the blake3 hash of its bytes and the same fields answers with it. Else use a new key.',
  );
}

/** The bytes of the day are used up; they are free again at midnight UTC. */
export function uploadsUsedUp(limitBytes: number, who = 'This account'): Refusal {
  const midnight = new Date().setUTCHours(24, 0, 0, 0);
  const message = `${who} may upload ${limitBytes} bytes a day (UTC), and too few of them are left for this upload.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds: (midnight - Date.now()) / 1000 });
}

/**
 * The account has as many uploads in parts open as it may. No list shows them, so that it is said when one ends.
 *
 * @param nextEnd when the next of them ends by itself
 */
export function tooManyOpen(openUploads: number, nextEnd: Date | null): Refusal {
  const endsAt = nextEnd?.toISOString() ?? null;
  const message =
    `This account has ${openUploads} uploads in parts open, as many as it may. Complete one, or delete it ` +
    `(DELETE /api/v2/uploads/{id}); the next of them ends by itself at ${endsAt ?? 'any moment'}.`;
  return new Refusal('rate_limited', message, {
    retryAfterSeconds: OPEN_RETRY_SECONDS,
    details: { open_uploads: openUploads, next_ends_at: endsAt },
  });
}

/** The account is being erased: what was on its way in becomes nothing of it. */
export function accountClosed(): Refusal {
  return new Refusal('forbidden', 'This account is closed, and takes no uploads.');
}

/** @param missing the numbers of all parts that have not arrived whole, in their order. */
export function partsMissing(missing: readonly number[]): Refusal {
  const message = `${missing.length} parts of the upload have not arrived whole, the first of them part ${missing[0]}.`;
  return new Refusal('upload_incomplete', message, { details: { missing: missing.slice(0, NAMED_PARTS) } });
}

/** Another request holds the upload. */
export function beingCompleted(): Refusal {
  const message = 'Another request is completing the upload. Complete it again in a moment: the answer is the asset.';
  return new Refusal('upload_incomplete', message);
}

export function noBytes(hash: string): Refusal {
  return new Refusal('blob_not_found', `This account has no bytes with the hash ${hash}.`);
}

/** Whether an asset could not be made because its bytes are gone since they were found. */
export function isGone(error: unknown): boolean {
  return error instanceof BlobStoreError && error.fault === 'missing';
}
