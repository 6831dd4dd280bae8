import type { Statements } from '@millrace/database';
import { blobKey, blobOfKey, type BlobRecord, type BlobRecordStore, type BlobRef } from '../records';
import { ByteMeter, type BlobStore } from '../store';

const BATCH = 500;

/** Where records and bytes disagree. In sound storage all lists are empty. */
export interface StorageFindings {
  /** Live blobs that were checked: without any, empty lists prove nothing. */
  checkedBlobs: number;
  /** Keys of objects whose blob's life is over, or that no blob ever had: no record will name them again. */
  strayKeys: string[];
  /** Live blobs without bytes, or with bytes of another size. */
  lostBlobs: BlobRef[];
  /** Live blobs whose bytes have another hash; found only by `readAll`. */
  corruptBlobs: BlobRef[];
}

/** Compares every object of the store with the records, and every live record with the store. For operators and tests. */
export class StorageAudit {
  constructor(
    private readonly database: Statements,
    private readonly records: BlobRecordStore,
    private readonly store: BlobStore,
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
      if (!(await this.hasBytes(blob))) {
        // It may have been swept since it was listed.
        if (await this.isLive(blob)) findings.lostBlobs.push(blob);
      } else if (readAll && !(await this.hasHash(blob))) findings.corruptBlobs.push(blob);
    }
    return findings;
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

  private async hasBytes(blob: BlobRecord): Promise<boolean> {
    return (await this.store.stat(blobKey(blob)))?.sizeBytes === blob.sizeBytes;
  }

  private async hasHash(blob: BlobRecord): Promise<boolean> {
    const meter = new ByteMeter(Number.MAX_SAFE_INTEGER);
    for await (const chunk of (await this.store.open(blobKey(blob))) as AsyncIterable<Buffer>) meter.add(chunk);
    return meter.finish().hash === blob.hash;
  }
}
