import type { Statements } from '@millrace/database';
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
  /** Keys of objects whose blob's life is over, or that no blob ever had: no record will name them again. */
  strayKeys: string[];
  /** Live blobs without bytes, or with bytes of another size. */
  lostBlobs: BlobRef[];
  /** Live blobs whose bytes have another hash: those of which that is known, and with `readAll` all of them. */
  corruptBlobs: BlobRef[];
}

/**
 * Compares every object of the store with the records, and every live record with the store. What it finds of bytes it notes beside their
 * record, so that their owners get an error; what was noted and is not so any more, it takes back.
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
      strayKeys: await this.strays(),
      lostBlobs: [],
      corruptBlobs: [],
    };
    for await (const blob of this.liveBlobs()) {
      findings.checkedBlobs += 1;
      const damage = await this.check(blob, readAll);
      if (damage === 'lost') findings.lostBlobs.push(blob);
      if (damage === 'rotten') findings.corruptBlobs.push(blob);
    }
    return findings;
  }

  private async check(blob: BlobRecord, readAll: boolean): Promise<BlobDamage | null> {
    if (!(await this.damages.hasBytes(blob))) {
      // It may have been swept since it was listed.
      if (!(await this.isLive(blob))) return null;
      await this.damages.noteLost(blob);
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

  /** Delete objects that `run` found without a record. Safe at any time: see the lives of a blob in the README. */
  async removeStrays(keys: string[]): Promise<void> {
    for (const key of keys) await this.store.delete(key);
  }

  private async strays(): Promise<string[]> {
    const strays: string[] = [];
    let batch: string[] = [];
    for await (const { key } of this.store.list()) {
      batch.push(key);
      if (batch.length < BATCH) continue;
      strays.push(...(await this.unrecorded(batch)));
      batch = [];
    }
    return [...strays, ...(await this.unrecorded(batch))];
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
