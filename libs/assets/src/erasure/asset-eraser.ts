import type { ErasureSubject, JobMetadata } from '@millrace/contracts';
import { forgetKeys, type Database, type Statements } from '@millrace/database';
import type { BlobService } from '../records';
import type { ResumableUpload, ResumableUploadService } from '../upload';
import type { AssetErasureStore } from './asset-erasure.store';

const UPLOADS = 20;
/** Deletions of bytes under way at once. */
const BLOBS = 8;

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

  /** Drop uploads in parts, each with what arrived of it. @returns how many; those that requests complete now stay. */
  async dropUploads(accountId: string, subject: Many): Promise<number> {
    const uploads: ResumableUpload[] = await this.uploads.listOf(accountId, labelsOf(subject), UPLOADS);
    for (const upload of uploads) await this.uploads.drop(upload);
    return uploads.length;
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

  /** Remove the bytes of condemned blobs of the account, some of them. @returns how many; 0: none is left. */
  async removeBytes(accountId: string): Promise<number> {
    const blobs = await this.store.listCondemned(this.database, accountId, BLOBS);
    await Promise.all(blobs.map((blob) => this.blobs.remove(blob)));
    return blobs.length;
  }
}

const labelsOf = (subject: Many): JobMetadata | null =>
  subject.kind === 'account' ? null : { [subject.label]: subject.value };
