import { repeatBriefly, type Database, type Statements } from '@millrace/database';
import { wholeAccount, type StorageQuota } from '../records';
import type { ResumableUpload, ResumableUploadStore } from './resumable-upload.store';
import { accountClosed, tooManyOpen } from './upload-refusals';

/** Shorter than staged bytes are kept, so that the sweep of staging removes nothing of an open upload. */
const UPLOAD_SECONDS = 20 * 3_600;
const OPEN_UPLOADS_PER_ACCOUNT = 20;

/**
 * Record an upload that begins, and reserve the room for all of it.
 *
 * @param storageBytes what the account may store; null: the service's limit.
 * @throws Refusal `storage_full`; `rate_limited` when too many are open; `forbidden` for a closed account.
 */
export async function insertUpload(
  tx: Statements,
  store: ResumableUploadStore,
  quota: Pick<StorageQuota, 'reserveIn'>,
  draft: Parameters<ResumableUploadStore['insert']>[1],
  storageBytes: number | null,
): Promise<ResumableUpload> {
  const { accountId } = draft;
  const limits = { lifetimeSeconds: UPLOAD_SECONDS, openLimit: OPEN_UPLOADS_PER_ACCOUNT };
  if (await store.isClosed(tx, accountId)) throw accountClosed();
  await quota.reserveIn(tx, draft, storageBytes);
  const made = await store.insert(tx, draft, limits);
  if (made === null) throw tooManyOpen(limits.openLimit, await store.nextEnd(tx, accountId));
  return made;
}

/** @returns the upload whose commit had no answer; null where it is not there, or PostgreSQL does not answer this either, a few times. */
export async function findBegun(
  database: Database,
  store: ResumableUploadStore,
  accountId: string,
  id: string,
): Promise<ResumableUpload | null> {
  return repeatBriefly(() => store.find(database, wholeAccount(accountId), id)).catch(() => null);
}
