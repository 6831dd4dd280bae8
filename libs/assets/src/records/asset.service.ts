import type { Readable } from 'node:stream';
import { Refusal, isUuid } from '@millrace/contracts';
import { ConstraintError, type Database } from '@millrace/database';
import type { AssetRecord } from './asset';
import type { AssetStore } from './asset.store';
import type { StoredBlob } from './blob';
import type { BlobService } from './blob.service';
import type { BlobRecordStore } from './blob-record.store';
import { sniffContentType } from '../media';

export interface OutputStoreOptions {
  /** File name: its ending decides the type where the bytes do not. */
  name: string;
  /** More bytes than this are refused. Absent: as many as the store takes. */
  maxBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Bytes of an output, stored and of known type, but not yet an asset. */
export interface StoredOutput {
  blob: StoredBlob;
  /** What the bytes are; see `sniffContentType` and `outputTypeOf`. */
  contentType: string;
}

/** Assets as customers and jobs see them: found, deleted, referred to, stored. */
export class AssetService {
  constructor(
    private readonly database: Database,
    private readonly assets: AssetStore,
    private readonly records: BlobRecordStore,
    private readonly blobs: BlobService,
  ) {}

  /** @throws Refusal `not_found`: no such asset, another account's, or expired. */
  async get(accountId: string, id: string): Promise<AssetRecord> {
    const asset = isUuid(id) ? await this.assets.find(this.database, accountId, id) : null;
    if (asset === null) throw noAsset(id);
    return asset;
  }

  /** @throws Refusal `not_found`; `asset_in_use` while a job's inputs or outputs refer to it. */
  async remove(accountId: string, id: string): Promise<void> {
    if (!isUuid(id)) throw noAsset(id);
    try {
      await this.database.transaction(async (tx) => {
        const blob = await this.assets.lockBlobOf(tx, accountId, id);
        if (blob === null || !(await this.assets.remove(tx, accountId, id))) throw noAsset(id);
        await this.records.orphanUnlessUsed(tx, [blob]);
      });
    } catch (error) {
      if (!(error instanceof ConstraintError) || error.kind !== 'foreign_key') throw error;
      throw new Refusal('asset_in_use', `A job refers to asset ${id}; it can be deleted once the job no longer does.`);
    }
  }

  /**
   * Those of the ids, as they are written, that are assets of the account and have not expired. One statement. A submission
   * refers to them by foreign key: from then on they stay, and one that was removed before makes the key fail.
   */
  async resolveForJob(accountId: string, ids: string[]): Promise<Set<string>> {
    const wellFormed = ids.filter(isUuid);
    if (wellFormed.length === 0) return new Set();
    const owned = new Set(await this.assets.owned(this.database, accountId, wellFormed));
    return new Set(wellFormed.filter((id) => owned.has(id.toLowerCase())));
  }

  /**
   * Store the bytes of a job's output as a blob of its account, outside any transaction. A statement with `mintOutputPart`
   * makes them an asset within the grace.
   *
   * @throws BlobStoreError; Refusal `payload_too_large`; the source's own error.
   */
  async storeOutput(accountId: string, source: Readable, options: OutputStoreOptions): Promise<StoredOutput> {
    const { name, maxBytes = Number.MAX_SAFE_INTEGER, signal } = options;
    const staged = await this.blobs.stage(source, { maxBytes, signal });
    try {
      const blob = await this.blobs.keep(accountId, staged);
      return { blob, contentType: sniffContentType(staged.head, name) };
    } finally {
      // Where this fails, the sweep of staging finds what stays behind.
      await staged.discard().catch(() => undefined);
    }
  }
}

export function noAsset(id: string): Refusal {
  return new Refusal('not_found', `There is no asset ${id.slice(0, 64)}.`);
}
