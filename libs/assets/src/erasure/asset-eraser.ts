import type { ErasureSubject, JobMetadata } from '@millrace/contracts';
import { forgetKeys, isTransient, type Database, type Statements } from '@millrace/database';
import type { BlobService, CondemnedBlob } from '../records';
import { BlobStoreError } from '../store';
import type { ResumableUpload, ResumableUploadService } from '../upload';
import type { AssetErasureStore } from './asset-erasure.store';

const UPLOADS = 20;
/** Deletions of bytes under way at once. */
const BLOBS = 8;
/** Refused deletions after which a call ends: more are rarely about the blobs. */
const REFUSED = 200;

type Many = Exclude<ErasureSubject, { kind: 'job' }>;

/** Erases what this lib keeps: assets, uploads in parts, and bytes. */
export class AssetEraser {
  constructor(
    private readonly database: Database,
    private readonly store: AssetErasureStore,
    private readonly uploads: Pick<ResumableUploadService, 'listOf' | 'hasHeld' | 'drop'>,
    private readonly blobs: Pick<BlobService, 'remove'>,
  ) {}

  /**
   * Delete the subject's own assets. One that a job or a model of somebody else refers to stays for them, without a name.
   *
   * @returns how many went.
   */
  async delete(tx: Statements, accountId: string, ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    await this.store.lockBlobs(tx, accountId, ids);
    const hashes = await this.store.delete(tx, accountId, ids);
    await this.store.strip(tx, accountId, ids);
    await this.store.condemn(tx, accountId, hashes);
    await forgetKeys(tx, accountId, 'postAssets', ids);
    return hashes.length;
  }

  /** Assets of the subject, at most `limit`, each with its place. @param after that of the last one; null: from the first. */
  list(
    tx: Statements,
    accountId: string,
    subject: Many,
    after: string | null,
    limit: number,
  ): Promise<{ id: string; place: string }[]> {
    if (subject.kind === 'account') return this.store.list(tx, accountId, { after, limit });
    return this.store.listLabelled(tx, accountId, { [subject.label]: subject.value }, { after, limit });
  }

  /**
   * Drop uploads in parts, each with what arrived of it: some of them. One that the store refuses to drop keeps no other.
   *
   * @returns how many; those that requests complete now stay. `refusal`: the first, where there is none that could be dropped.
   * @throws where the store or the database is away.
   */
  async dropUploads(accountId: string, subject: Many): Promise<{ uploads: number; refusal: Error | null }> {
    const refused: Refused<ResumableUpload>[] = [];
    let page: ResumableUpload[] = [];
    do {
      page = await this.uploads.listOf(accountId, labelsOf(subject), UPLOADS, page.at(-1)?.id ?? null);
      const failed = await refusedOf(page, (upload) => this.uploads.drop(upload));
      if (failed.length < page.length) return { uploads: page.length - failed.length, refusal: null };
      refused.push(...failed);
    } while (page.length === UPLOADS && refused.length < REFUSED);
    return { uploads: 0, refusal: refused[0]?.error ?? null };
  }

  /** Whether a request is completing an upload in parts, which may become an asset yet. */
  hasHeldUpload(accountId: string, subject: Many): Promise<boolean> {
    return this.uploads.hasHeld(accountId, labelsOf(subject));
  }

  /** Whether an upload that began before this time is still on its way in. */
  hasUploadBefore(accountId: string, time: Date): Promise<boolean> {
    return this.store.hasUploadBefore(this.database, accountId, time);
  }

  /** Let nothing of an account wait for the end of its grace, and forget how much it uploaded. */
  async condemnAll(tx: Statements, accountId: string): Promise<void> {
    await this.store.condemnOrphans(tx, accountId);
    await this.store.forgetUse(tx, accountId);
  }

  /**
   * Remove the bytes of condemned blobs of the account, some of them. One that the store refuses to delete keeps no other.
   *
   * @returns how many; 0: none is left.
   * @throws the first refusal, where none is left that could be removed; where the store or the database is away.
   */
  async removeBytes(accountId: string): Promise<number> {
    const refused: Refused<CondemnedBlob>[] = [];
    while (refused.length < REFUSED) {
      const hashes = refused.map(({ item }) => item.hash);
      const blobs = await this.store.listCondemned(this.database, accountId, BLOBS, hashes);
      if (blobs.length === 0) break;
      const failed = await refusedOf(blobs, (blob) => this.blobs.remove(blob));
      if (failed.length < blobs.length) return blobs.length - failed.length;
      refused.push(...failed);
    }
    if (refused[0] !== undefined) throw refused[0].error;
    return 0;
  }
}

interface Refused<Item> {
  item: Item;
  error: Error;
}

/** Work on all of the items at once. @returns those that were refused. @throws where what does the work is away, which is no fault of an item. */
async function refusedOf<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<Refused<Item>[]> {
  const refused: Refused<Item>[] = [];
  await Promise.all(
    items.map((item) =>
      work(item).catch((error: unknown) => {
        if (!(error instanceof Error) || isAway(error)) throw error;
        refused.push({ item, error });
      }),
    ),
  );
  return refused;
}

const isAway = (error: Error): boolean =>
  isTransient(error) || (error instanceof BlobStoreError && error.fault === 'unreachable');

const labelsOf = (subject: Many): JobMetadata | null =>
  subject.kind === 'account' ? null : { [subject.label]: subject.value };
