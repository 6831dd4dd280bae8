import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { repeatUndone, type Database } from '@millrace/database';
import { BoundedMap } from '@millrace/platform';
import { blobKey, damageOf, type BlobRef, type StoredBlob } from './blob';
import type { BlobDamages } from './blob-damages.service';
import type { BlobRecord, BlobRecordStore, CondemnedBlob } from './blob-record.store';
import {
  BlobStoreError,
  HEAD_BYTES,
  type BlobStore,
  type ByteRange,
  type PresignOptions,
  type StagedBytes,
  type StageOptions,
} from '../store';
import type { StorageStore } from './storage.store';
import { sniffContentType } from '../media';

/** Contents that are remembered. One that is forgotten costs a file that is written and removed, at most. */
const KEPT_LIMIT = 10_000;

/**
 * Keeps bytes and their records together: the record is there before the bytes, and goes after them. The README of the lib
 * says what that guarantees, and why.
 */
export class BlobService {
  /** Contents that were kept before. They come again, and what is flushed of them is written in vain. */
  private readonly kept = new BoundedMap<true>(KEPT_LIMIT);

  constructor(
    private readonly database: Database,
    private readonly records: BlobRecordStore,
    private readonly storage: Pick<StorageStore, 'release'>,
    private readonly store: BlobStore,
    private readonly damages: Pick<BlobDamages, 'hasBytes' | 'noteLost' | 'noteMended'>,
  ) {}

  /** Memory that one stream takes at most while it is staged. */
  get stagingBytes(): number {
    return this.store.stagingBytes;
  }

  /** Take in a stream, to be kept or discarded. @throws Refusal `payload_too_large`, BlobStoreError, the source's error. */
  stage(source: Readable, options: StageOptions): Promise<StagedBytes> {
    return this.store.stage(source, options);
  }

  /**
   * Make staged bytes a blob of the account. Bytes that are there are not written again, and what was staged is left to the
   * caller to discard; a record whose bytes were lost, or are damaged, gets them back.
   *
   * @param reservationId room that was reserved for them: it ends as the blob begins to count. Absent: there was none.
   */
  async keep(
    accountId: string,
    staged: Pick<StagedBytes, 'hash' | 'sizeBytes' | 'place' | 'flush'>,
    reservationId?: string,
  ): Promise<StoredBlob> {
    const content = `${accountId} ${staged.hash}`;
    // `place` waits for the same, and says what failed.
    if (!this.kept.has(content)) staged.flush?.().catch(() => undefined);
    for (;;) {
      const record = await this.announce(accountId, staged, reservationId);
      if (record.state === 'condemned') {
        // A sweep is under way, or broke off. Finish its work here, so that the next round begins a new life.
        await this.remove(record);
        continue;
      }
      const isSound = record.state === 'live' && damageOf(record) === null && (await this.damages.hasBytes(record));
      if (!isSound) await staged.place(blobKey(record));
      this.kept.set(content, true);
      await this.damages.noteMended(record, record);
      return { accountId, hash: staged.hash, bornAt: record.bornAt, sizeBytes: staged.sizeBytes };
    }
  }

  /** The account's blob of this content, if its bytes are there and nothing bad is known of them. An asset can be minted from it for the length of the grace. */
  async find(accountId: string, hash: string): Promise<StoredBlob | null> {
    const record = await this.records.touch(this.database, accountId, hash);
    if (record === null || damageOf(record) === 'rotten') return null;
    if (await this.damages.hasBytes(record)) return record;
    await this.damages.noteLost(record);
    return null;
  }

  /** Delete the bytes of a condemned blob, then its record. Safe to repeat, to break off, and to do twice at once. */
  async remove(condemned: BlobRef): Promise<void> {
    await this.store.delete(blobKey(condemned));
    await this.records.forget(this.database, condemned);
  }

  /**
   * End the life of blobs orphaned for `graceSeconds`, at most `limit`. @returns those whose bytes are still to be removed.
   *
   * @param afterTurn the last one's `turn`; null: from the first.
   */
  condemn(graceSeconds: number, afterTurn: string | null, limit: number): Promise<CondemnedBlob[]> {
    return this.records.condemn(this.database, graceSeconds, afterTurn, limit);
  }

  /** Read bytes, all or a part. @throws BlobStoreError. */
  open(blob: StoredBlob, range?: ByteRange): Promise<Readable> {
    return this.store.open(blobKey(blob), range);
  }

  /** What the bytes are; see `sniffContentType`. */
  async sniff(blob: StoredBlob, name: string | null): Promise<string> {
    const end = Math.min(blob.sizeBytes, HEAD_BYTES) - 1;
    const head = end < 0 ? Buffer.alloc(0) : await buffer(await this.open(blob, { start: 0, end }));
    return sniffContentType(head, name);
  }

  /** Whether the store itself serves bytes, to anyone who has a link. */
  get presigns(): boolean {
    return this.store.kind === 's3';
  }

  presign(blob: StoredBlob, options: PresignOptions): Promise<string | null> {
    return this.store.presign(blobKey(blob), options);
  }

  /** Where links of the store lead; null where it gives none. A link to nothing shows it. */
  async linkOrigin(): Promise<string | null> {
    const options = { contentType: 'text/plain', disposition: 'attachment', expiresSeconds: 1 };
    const link = await this.store.presign('none', { method: 'HEAD', ...options });
    return link === null ? null : new URL(link).origin;
  }

  private async announce(
    accountId: string,
    { hash, sizeBytes }: Pick<StagedBytes, 'hash' | 'sizeBytes'>,
    reservationId: string | undefined,
  ): Promise<BlobRecord> {
    if (reservationId === undefined)
      return repeatUndone(() => this.records.announce(this.database, accountId, hash, sizeBytes));
    const announced = (): Promise<BlobRecord> =>
      this.database.transaction(async (tx) => {
        const record = await this.records.announce(tx, accountId, hash, sizeBytes);
        if (record.state !== 'condemned') await this.storage.release(tx, reservationId);
        return record;
      });
    return repeatUndone(announced);
  }
}

/** The blob was stored, and swept before an asset was minted from it: that took longer than the grace. Store it again. */
export function blobGone(blob: BlobRef): BlobStoreError {
  return new BlobStoreError('missing', `The blob ${blob.hash} was swept before an asset was minted from it.`);
}
