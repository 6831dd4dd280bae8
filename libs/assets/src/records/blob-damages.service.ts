import type { Statements } from '@millrace/database';
import { BlobStoreError, hashOf, type BlobStore } from '../store';
import { blobKey, damageOf, type BlobDamage, type BlobMarks, type StoredBlob } from './blob';
import type { BlobDamageStore } from './blob-damage.store';

/**
 * Notes what is wrong with bytes, so that their owner gets an error instead of them. A mark that stays was confirmed by reading that began
 * after it was set: bytes that were placed again before it are seen by that reading, and placing them after it clears the mark. So no mark
 * outlives the damage, no matter what runs at the same time.
 */
export class BlobDamages {
  constructor(
    private readonly database: Statements,
    private readonly marks: BlobDamageStore,
    private readonly store: BlobStore,
  ) {}

  /**
   * Somebody read bytes that are not what their record says: see for ourselves, and note it. Reads them twice if they are, in flat memory.
   *
   * @returns whether they are damaged or lost; false: they are sound where they lie.
   * @throws BlobStoreError where that cannot be found out.
   */
  async doubt(blob: StoredBlob): Promise<boolean> {
    if (await this.isSound(blob)) return false;
    const markedAt = await this.marks.markRotten(this.database, blob);
    if (markedAt === null) return true;
    if (!(await this.isSound(blob))) return true;
    await this.marks.clearRotten(this.database, blob, markedAt);
    return false;
  }

  /** The store has nothing under the key of a live blob. */
  async noteLost(blob: StoredBlob): Promise<void> {
    await this.marks.markLost(this.database, blob);
  }

  /**
   * Look again at bytes of which something bad is known. Lost ones may have come back, as when a disk was away.
   *
   * @returns whether they can be served.
   * @throws BlobStoreError.
   */
  async isBack(blob: StoredBlob, damage: BlobDamage): Promise<boolean> {
    if (damage !== 'lost' || !(await this.hasBytes(blob))) return false;
    await this.marks.clearLost(this.database, blob);
    return true;
  }

  /** All of the bytes were read, and are sound. */
  async noteSound(blob: StoredBlob, { lostAt, damagedAt }: BlobMarks): Promise<void> {
    if (damagedAt !== null) await this.marks.clearRotten(this.database, blob, damagedAt);
    if (lostAt !== null) await this.marks.clearLost(this.database, blob);
  }

  /** Sound bytes were placed again. Without a mark there is nothing to say. */
  async noteMended(blob: StoredBlob, marks: BlobMarks): Promise<void> {
    if (damageOf(marks) !== null) await this.marks.clear(this.database, blob);
  }

  /** Whether bytes of the recorded size lie under the key. @throws BlobStoreError. */
  async hasBytes(blob: StoredBlob): Promise<boolean> {
    return (await this.store.stat(blobKey(blob)))?.sizeBytes === blob.sizeBytes;
  }

  /** Read all of the bytes. @throws BlobStoreError. */
  async isSound(blob: StoredBlob): Promise<boolean> {
    try {
      return (await hashOf(await this.store.open(blobKey(blob)))) === blob.hash;
    } catch (error) {
      if (error instanceof BlobStoreError && error.fault === 'missing') return false;
      throw error;
    }
  }
}
