import type { Readable } from 'node:stream';
import { Refusal, isUuid } from '@millrace/contracts';
import {
  ConstraintError,
  decodeCursor,
  encodeCursor,
  isLockTimeout,
  repeatUndone,
  type Database,
  type Page,
  type Statements,
} from '@millrace/database';
import { Turns } from '@millrace/platform';
import type { AssetRecord } from './asset';
import type { AssetFilter, AssetListStore, AssetPosition } from './asset-list.store';
import { type AssetScope } from './asset-scope.store';
import type { AssetStore, InputContent } from './asset.store';
import type { StoredBlob } from './blob';
import type { BlobService } from './blob.service';
import type { BlobRecordStore } from './blob-record.store';
import { sniffContentType } from '../media';

const LIST = 'assets';
/** Of one account: what has the labels of a sub-key is found by their index, or among all of the account's, and may be much of it. */
const LISTS_BY_LABEL_AT_A_TIME = 1;
/** Of one account: each holds a connection, and may wait with it for a moment. */
const REMOVALS_AT_A_TIME = 4;
/** A time in milliseconds, which PostgreSQL and `Date` both have, and an id. */
const POSITION = /^(\d{1,13}) ([0-9a-f-]{36})$/;

export interface OutputStoreOptions {
  /** File name: its ending decides the type where the bytes do not. */
  name: string;
  /** More bytes than this are refused. Absent: as many as the store takes. */
  maxBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** What a list of assets shows, and from where on. */
export interface AssetListFilter extends Omit<AssetFilter, 'from'> {
  cursor: string | null;
}

/** Bytes of an output, stored and of known type, but not yet an asset. */
export interface StoredOutput {
  blob: StoredBlob;
  /** What the bytes are; see `sniffContentType` and `outputTypeOf`. */
  contentType: string;
}

/** Assets as customers and jobs see them: found, deleted, referred to, stored. */
export class AssetService {
  private readonly turns = new Turns(LISTS_BY_LABEL_AT_A_TIME, 'lists of assets');
  private readonly removals = new Turns(REMOVALS_AT_A_TIME, 'deletions of assets');

  constructor(
    private readonly database: Database,
    private readonly assets: AssetStore,
    private readonly lists: AssetListStore,
    private readonly records: BlobRecordStore,
    private readonly blobs: BlobService,
  ) {}

  /** @throws Refusal `not_found`: no such asset, another account's or sub-key's, or expired. */
  async get(scope: AssetScope, id: string): Promise<AssetRecord> {
    const asset = isUuid(id) ? await this.assets.find(this.database, scope, id) : null;
    if (asset === null) throw noAsset(id);
    return asset;
  }

  /**
   * Newest first. A page has fewer assets than `limit`, or none, where few of the many behind it match the filter.
   *
   * @throws Refusal `invalid_cursor`; `rate_limited` while too many lists of sub-keys wait.
   */
  async list(scope: AssetScope, { cursor, ...filter }: AssetListFilter): Promise<Page<AssetRecord>> {
    const from = cursor === null ? null : positionOf(decodeCursor(LIST, cursor, isPosition));
    const read = (): ReturnType<AssetListStore['list']> => this.lists.list(this.database, scope, { ...filter, from });
    const { assets, next } = await (scope.labels === null ? read() : this.turns.run(scope.accountId, read));
    if (next === null) return { items: assets };
    return { items: assets, nextCursor: encodeCursor(LIST, `${next.createdAt.getTime()} ${next.id}`) };
  }

  /**
   * @throws Refusal `not_found`; `asset_in_use` while a job's inputs or outputs, or a model, refer to it, also those of a batch that is being recorded;
   * `rate_limited` while too many removals of the account wait.
   */
  async remove(scope: AssetScope, id: string): Promise<void> {
    if (!isUuid(id)) throw noAsset(id);
    try {
      const remove = (): Promise<boolean> => this.database.transaction((tx) => this.removeIn(tx, scope, id));
      const removed = await this.removals.run(scope.accountId, () => repeatUndone(remove));
      if (!removed) throw noAsset(id);
    } catch (error) {
      if (!(error instanceof ConstraintError) || error.kind !== 'foreign_key') throw error;
      const message = `A job or a model refers to asset ${id}; it can be deleted once they no longer do.`;
      throw new Refusal('asset_in_use', message);
    }
  }

  /**
   * Remove an asset, unless it was there before `since`, is gone, or something refers to it. It waits for who takes it into use: what
   * becomes of that decides, and nothing names the asset afterwards.
   */
  async removeUnlessUsed(scope: AssetScope, id: string, since: Date): Promise<void> {
    try {
      const { createdAt } = await this.get(scope, id);
      if (createdAt < since) return;
      await repeatUndone(() => this.database.transaction((tx) => this.removeLocked(tx, scope, id)));
    } catch (error) {
      const isGone = error instanceof Refusal && error.code === 'not_found';
      const isUsed = error instanceof ConstraintError && error.kind === 'foreign_key';
      if (!isGone && !isUsed) throw error;
    }
  }

  /**
   * Remove an asset in a transaction of the caller's.
   *
   * @returns false when there is none, or it has expired.
   * @throws ConstraintError `foreign_key` while something refers to it; Refusal `asset_in_use` while another transaction takes it into use or removes it,
   * which a batch may do for as long as it is recorded: nothing waits for that with a connection.
   */
  async removeIn(tx: Statements, scope: AssetScope, id: string): Promise<boolean> {
    try {
      await this.assets.boundLockWaits(tx);
      return await this.removeLocked(tx, scope, id);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const message = `Asset ${id} is being taken into use, or deleted, by another request; it was not deleted.`;
      throw new Refusal('asset_in_use', message);
    }
  }

  private async removeLocked(tx: Statements, scope: AssetScope, id: string): Promise<boolean> {
    const blob = await this.assets.lockBlobOf(tx, scope, id);
    if (blob === null || !(await this.assets.remove(tx, scope.accountId, id))) return false;
    await this.records.orphanUnlessUsed(tx, [blob]);
    return true;
  }

  /**
   * Those of the ids, as they are written, that are assets of the scope and have not expired. One statement. A submission
   * refers to them by foreign key: from then on they stay, and one that was removed before makes the key fail.
   */
  async resolveForJob(scope: AssetScope, ids: string[]): Promise<Set<string>> {
    const wellFormed = ids.filter(isUuid);
    if (wellFormed.length === 0) return new Set();
    const owned = new Set(await this.assets.owned(this.database, scope, wellFormed));
    return new Set(wellFormed.filter((id) => owned.has(id.toLowerCase())));
  }

  /** What assets of the account contain, by id; those that are gone are left out. @param ids UUIDs in lower case. */
  async contentsForJob(accountId: string, ids: string[]): Promise<Map<string, InputContent>> {
    if (ids.length === 0) return new Map();
    const found = await this.assets.contents(this.database, accountId, ids);
    return new Map(found.map(({ id, ...content }) => [id, content]));
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

function isPosition(text: string): boolean {
  return isUuid(POSITION.exec(text)?.[2] ?? '');
}

/** @param text of which `isPosition` is true. */
function positionOf(text: string): AssetPosition {
  const [ms, id = ''] = text.split(' ');
  return { createdAt: new Date(Number(ms)), id };
}

export function noAsset(id: string): Refusal {
  return new Refusal('not_found', `There is no asset ${id.slice(0, 64)}.`);
}
