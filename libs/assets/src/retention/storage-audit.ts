import type { Statements } from '@millrace/database';
import { BootError } from '@millrace/platform';
import {
  blobKey,
  blobOfKey,
  damageOf,
  type BlobDamage,
  type BlobDamages,
  type BlobRecord,
  type BlobRecordStore,
  type BlobRef,
} from '../records';
import type { BlobStore } from '../store';

const BATCH = 500;

/** Where records and bytes disagree. In sound storage all lists are empty. */
export interface StorageFindings {
  /** Live blobs that were checked: without any, empty lists prove nothing. */
  checkedBlobs: number;
  /** Whether the store has the bytes of any of them. If not, it may be another one: nothing was noted of those that are lost. */
  isOwnStore: boolean;
  /** Keys of objects whose blob's life is over, or that no blob ever had: no record will name them again. */
  strayKeys: string[];
  /** Live blobs without bytes, or with bytes of another size. */
  lostBlobs: BlobRef[];
  /** Live blobs whose bytes have another hash: those of which that is known, and with `readAll` all of them. */
  corruptBlobs: BlobRef[];
}

export const UNKNOWN_STORE =
  'The store has no bytes that the database names, so that nothing is noted or removed: look at DATABASE_URL and at MILLRACE_BLOB_DIR or S3_BUCKET, or restore the bytes first.';

/**
 * Compares every object of the store with the records, and every live record with the store. What it finds of bytes it notes beside their
 * record, so that their owners get an error; what was noted and is not so any more, it takes back. In a store without any bytes that the
 * database names it notes nothing: a folder or bucket that was mistyped would mark all bytes of all accounts as lost.
 */
export class StorageAudit {
  constructor(
    private readonly database: Statements,
    private readonly records: BlobRecordStore,
    private readonly store: BlobStore,
    private readonly damages: BlobDamages,
  ) {}

  /** @param readAll also read every byte and compare hashes. */
  async run(readAll: boolean): Promise<StorageFindings> {
    const findings: StorageFindings = {
      checkedBlobs: 0,
      isOwnStore: await this.isOwnStore(),
      strayKeys: [],
      lostBlobs: [],
      corruptBlobs: [],
    };
    for await (const key of this.strays()) findings.strayKeys.push(key);
    for await (const blob of this.liveBlobs()) {
      findings.checkedBlobs += 1;
      const damage = await this.check(blob, readAll, findings.isOwnStore);
      if (damage === 'lost') findings.lostBlobs.push(blob);
      if (damage === 'rotten') findings.corruptBlobs.push(blob);
    }
    return findings;
  }

  private async check(blob: BlobRecord, readAll: boolean, isOwnStore: boolean): Promise<BlobDamage | null> {
    if (!(await this.damages.hasBytes(blob))) {
      // It may have been swept since it was listed.
      if (!(await this.isLive(blob))) return null;
      if (isOwnStore) await this.damages.noteLost(blob);
      return 'lost';
    }
    if (!readAll) return (await this.isBack(blob)) ? null : 'rotten';
    if (!(await this.damages.isSound(blob))) return (await this.damages.doubt(blob)) ? 'rotten' : null;
    await this.damages.noteSound(blob, blob);
    return null;
  }

  /** Without reading: bytes that were lost are there again, and what is known to be damaged stays so. */
  private async isBack(blob: BlobRecord): Promise<boolean> {
    const damage = damageOf(blob);
    return damage === null || this.damages.isBack(blob, damage);
  }

  /**
   * Delete objects that no record names, a page of them in memory at a time. Safe while others write: the record of an object is there
   * before its bytes, and a life that is over never begins again (the lives of a blob in the README).
   *
   * @returns the key of each, once it is deleted.
   * @throws BootError, before anything is deleted, where nothing shows that the store is this database's. BlobStoreError.
   */
  async *removeStrays(): AsyncGenerator<string> {
    if (!(await this.isOwnStore())) throw new BootError(UNKNOWN_STORE);
    for await (const key of this.strays()) {
      await this.store.delete(key);
      yield key;
    }
  }

  /** Whether the store has the bytes of any live blob: without one, database and store may have nothing to do with each other. */
  private async isOwnStore(): Promise<boolean> {
    for await (const blob of this.liveBlobs()) if (await this.damages.hasBytes(blob)) return true;
    return false;
  }

  private async *strays(): AsyncGenerator<string> {
    let batch: string[] = [];
    for await (const { key } of this.store.list()) {
      batch.push(key);
      if (batch.length < BATCH) continue;
      yield* await this.unrecorded(batch);
      batch = [];
    }
    yield* await this.unrecorded(batch);
  }

  /** Read after the objects were listed: a record is there before its bytes, so none of these is just too new. */
  private async unrecorded(keys: string[]): Promise<string[]> {
    const named = keys.map(blobOfKey).filter((blob) => blob !== null);
    const recorded = new Set((await this.records.findMany(this.database, named)).map(blobKey));
    return keys.filter((key) => !recorded.has(key));
  }

  private async *liveBlobs(): AsyncGenerator<BlobRecord> {
    let after = { accountId: '00000000-0000-0000-0000-000000000000', hash: '' };
    for (;;) {
      const page = await this.records.listLive(this.database, after, BATCH);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }

  private async isLive(blob: BlobRecord): Promise<boolean> {
    const [now] = await this.records.findMany(this.database, [blob]);
    return now?.state === 'live' && now.bornAt.getTime() === blob.bornAt.getTime();
  }
}
