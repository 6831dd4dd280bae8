import type { Database } from '@millrace/database';
import type { ResumableUploadStore } from './resumable-upload.store';

/** How long a completion that died keeps others away; one that lives prolongs its hold. */
const HOLD_SECONDS = 60;
const RENEW_MS = 20_000;

/**
 * Keep other requests from completing an upload, until `end`. A process that freezes loses its hold: the mint, which sets
 * the asset once, decides then.
 *
 * @returns null when another request holds it, or it is complete.
 */
export async function holdUpload(
  database: Database,
  store: Pick<ResumableUploadStore, 'hold' | 'renew' | 'release'>,
  accountId: string,
  id: string,
): Promise<{ end(): Promise<void> } | null> {
  if (!(await store.hold(database, accountId, id, HOLD_SECONDS))) return null;
  const renew = (): unknown => store.renew(database, accountId, id, HOLD_SECONDS).catch(() => undefined);
  const renewal = setInterval(() => void renew(), RENEW_MS);
  return {
    end: async () => {
      clearInterval(renewal);
      // Where this fails, the hold ends by itself.
      await store.release(database, accountId, id).catch(() => undefined);
    },
  };
}
