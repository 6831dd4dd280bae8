import type { Readable } from 'node:stream';
import { Refusal, isUuid, newId, type JobMetadata } from '@millrace/contracts';
import { RefusedError, isUndone, repeatUndone, type Database, type Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import {
  wholeAccount,
  type AssetScope,
  type AssetService,
  type MintedAsset,
  type StorageQuota,
  type UploadFields,
} from '../records';
import type { AssetSettings } from '../assets.settings';
import { fileTooLarge, type PartSpec, type PartStore } from '../store';
import { specsOf, type ResumableUpload, type ResumableUploadStore } from './resumable-upload.store';
import { findBegun, insertUpload } from './begun-upload';
import { holdUpload } from './upload-hold';
import { accountClosed, beingCompleted, partsMissing } from './upload-refusals';
import type { UploadTerms } from './upload-terms';
import { UPLOAD_OVER, type UploadService } from './upload.service';

/** Of one account. A link to a part of a bucket takes up to 0.6 ms of a core, and an upload has up to a thousand. */
const PART_READS_AT_A_TIME = 1;
/** Of one account, and of all: each reads a whole file, of up to 50 GiB, from the store and has it copied. */
const COMPLETED_AT_A_TIME = 1;
const ALL_COMPLETED_AT_A_TIME = 8;
/** Those of all wait for a place alone: accounts rest in turns of their own. */
const NO_REST = { times: 0, isAlways: false };

export interface PartState extends PartSpec {
  received: boolean;
  /** Where to PUT its bytes; null where our own route takes them, or where they have arrived. */
  link: string | null;
}

/**
 * Does the insert of an upload in a transaction, with what the caller records of it: neither is there without the other. It is called again
 * where PostgreSQL undid it (`repeatUndone`).
 */
export type BeginTransaction = (insert: (tx: Statements) => Promise<ResumableUpload>) => Promise<unknown>;

/** Uploads of large files in parts that can be sent again: begun here, sent to the store, and joined here. */
export class ResumableUploadService {
  private readonly turns = new Turns(PART_READS_AT_A_TIME, 'readings of uploads');
  private readonly completions = new Turns(COMPLETED_AT_A_TIME, 'completions of uploads');
  private readonly allCompletions = new Turns(ALL_COMPLETED_AT_A_TIME, 'completions of uploads', {
    whose: 'all',
    rest: NO_REST,
  });

  constructor(
    private readonly database: Database,
    private readonly store: ResumableUploadStore,
    private readonly parts: PartStore,
    private readonly uploads: UploadService,
    private readonly assets: AssetService,
    private readonly quota: Pick<StorageQuota, 'reserveIn'>,
    private readonly settings: Pick<AssetSettings, 'maxResumableUploadBytes' | 'uploadPartBytes' | 'signedUrlSeconds'>,
  ) {}

  /**
   * Begin an upload of a file whose size is known. The room for all of it is reserved under the upload's id. Where the answer to the commit
   * is lost, the upload is looked for, and has begun if it is there.
   *
   * @throws Refusal `payload_too_large`, `storage_full`; `rate_limited` when the day's bytes would be too many, or too many are open;
   * `forbidden` for a closed account; what `transact` throws.
   */
  async begin(
    accountId: string,
    sizeBytes: number,
    fields: UploadFields,
    terms: Pick<UploadTerms, 'uploadBytesPerDay' | 'storageBytes' | 'sharedUploads'>,
    transact: BeginTransaction = (insert) => this.database.transaction(insert),
  ): Promise<ResumableUpload> {
    const { maxResumableUploadBytes: maxBytes, uploadPartBytes: partBytes } = this.settings;
    if (sizeBytes > maxBytes) throw fileTooLarge(maxBytes);
    await this.uploads.assertRoomToday(accountId, sizeBytes, terms);
    const handle = await this.parts.begin();
    const draft = { id: newId(), accountId, handle, sizeBytes, partBytes, fields };
    try {
      const insert = (tx: Statements): Promise<ResumableUpload> =>
        insertUpload(tx, this.store, this.quota, draft, terms.storageBytes ?? null);
      await repeatUndone(() => transact(insert));
      return await this.get(wholeAccount(accountId), draft.id);
    } catch (error) {
      const begun = await this.begunDespite(error, draft);
      if (begun === null) throw error;
      return begun;
    }
  }

  /** @returns the upload where its transaction was committed all the same; null where it was not, or PostgreSQL does not say. */
  private async begunDespite(
    error: unknown,
    { id, accountId, handle }: Pick<ResumableUpload, 'id' | 'accountId' | 'handle'>,
  ): Promise<ResumableUpload | null> {
    if (error instanceof Refusal || isUndone(error)) {
      // Where this fails, the sweep of staging removes them.
      await this.parts.abort(handle).catch(() => undefined);
      return null;
    }
    // The parts stay, also where nothing is found: a commit that is still under way needs them.
    return findBegun(this.database, this.store, accountId, id);
  }

  /** @throws Refusal `not_found`. */
  async get(scope: AssetScope, id: string): Promise<ResumableUpload> {
    const upload = isUuid(id) ? await this.store.find(this.database, scope, id) : null;
    if (upload === null) throw new Refusal('not_found', `There is no upload ${id.slice(0, 64)}.`);
    return upload;
  }

  /**
   * Every part of an upload: whether it has arrived, and where it can be sent. Those of one account are read in turn.
   *
   * @throws Refusal `rate_limited` when too many wait.
   */
  async partsOf(upload: ResumableUpload): Promise<PartState[]> {
    return this.turns.run(upload.accountId, () => this.readParts(upload));
  }

  private async readParts(upload: ResumableUpload): Promise<PartState[]> {
    const arrived = await this.arrivedOf(upload);
    return Promise.all(
      specsOf(upload).map(async (spec) => {
        const received = arrived === 'all' || arrived.get(spec.number) === spec.sizeBytes;
        const seconds = this.settings.signedUrlSeconds;
        return { ...spec, received, link: received ? null : await this.parts.link(upload.handle, spec, seconds) };
      }),
    );
  }

  /** Store one part, where the store has no links of its own. @throws Refusal `not_found`, `invalid_request`. */
  async receive(accountId: string, id: string, number: number, source: Readable): Promise<void> {
    const upload = await this.get(wholeAccount(accountId), id);
    const spec = specsOf(upload).find((part) => part.number === number);
    if (spec === undefined || upload.assetId !== null) {
      throw new Refusal('not_found', `Upload ${id} has no part ${number} to send.`);
    }
    await this.parts.write(upload.handle, spec, source);
  }

  /**
   * Join the parts, hash the whole, and mint its asset. Repeating it returns the same asset, also after an answer that was
   * lost. Only bytes that are not those that were announced end the upload; after any other error it can be completed again.
   * One upload of an account is completed at a time, its others wait.
   *
   * @throws Refusal `not_found`, `upload_incomplete`, `hash_mismatch`, `rate_limited` when the day's bytes would be too many, before
   * any is read, or too many wait; BlobStoreError.
   */
  async complete(
    scope: AssetScope,
    id: string,
    terms: Pick<UploadTerms, 'uploadBytesPerDay' | 'sharedUploads'>,
  ): Promise<MintedAsset> {
    const { accountId } = scope;
    const before = await this.completed(scope, id);
    if (before !== null) return before;
    const hold = await holdUpload(this.database, this.store, accountId, id);
    if (hold === null) return this.ofOtherRequest(scope, id);
    try {
      const upload = await this.get(scope, id);
      await this.assertWhole(upload);
      return await this.completions.run(accountId, () =>
        this.allCompletions.run('all', () => this.assemble(upload, terms)),
      );
    } catch (error) {
      if (error instanceof RefusedError && error.reason === UPLOAD_OVER) return await this.ofOtherRequest(scope, id);
      throw error;
    } finally {
      await hold.end();
    }
  }

  private async assemble(
    upload: ResumableUpload,
    terms: Pick<UploadTerms, 'uploadBytesPerDay' | 'sharedUploads'>,
  ): Promise<MintedAsset> {
    const { accountId, id, fields, sizeBytes } = upload;
    // It may have waited since its account was closed, whose erasure waits for it; the record looks again.
    if (await this.store.isClosed(this.database, accountId)) throw accountClosed();
    await this.uploads.assertRoomToday(accountId, sizeBytes, terms);
    const bytes = await this.parts.assemble(upload.handle, specsOf(upload).length);
    try {
      const minted = await this.uploads.record(
        accountId,
        bytes,
        // An upload that was begun before there were sub-keys does not say that it belongs to none.
        { ...fields, labels: fields.labels ?? null },
        { ...terms, resumableId: id },
        id,
      );
      // Where this fails, the sweep of uploads drops what stays behind.
      await bytes.discard().catch(() => undefined);
      return minted;
    } catch (error) {
      await bytes.release().catch(() => undefined);
      if (error instanceof Refusal && error.code === 'hash_mismatch') await this.drop(upload);
      throw error;
    }
  }

  /** @returns the asset that an upload became; null while it is open. @throws Refusal `not_found`. */
  private async completed(scope: AssetScope, id: string): Promise<MintedAsset | null> {
    const { assetId } = await this.get(scope, id);
    return assetId === null ? null : { asset: await this.assets.get(scope, assetId), createdNew: false };
  }

  /** @throws Refusal `not_found`; `upload_incomplete` while the other request is still at work. */
  private async ofOtherRequest(scope: AssetScope, id: string): Promise<MintedAsset> {
    const minted = await this.completed(scope, id);
    if (minted === null) throw beingCompleted();
    return minted;
  }

  /** Drop an upload and what has arrived of it. @throws Refusal `not_found`, `upload_incomplete` while it is completed. */
  async abort(scope: AssetScope, id: string): Promise<void> {
    await this.end(scope, id, () => Promise.resolve());
  }

  /**
   * Drop an upload, and the asset that it became, unless that was there before, or a job or a model refers to it.
   *
   * @throws Refusal `not_found`, `upload_incomplete` while it is completed.
   */
  async abortWithAsset(scope: AssetScope, id: string): Promise<void> {
    await this.end(scope, id, (upload, assetId) => this.assets.removeUnlessUsed(scope, assetId, upload.createdAt));
  }

  private async end(
    scope: AssetScope,
    id: string,
    endAsset: (upload: ResumableUpload, assetId: string) => Promise<void>,
  ): Promise<void> {
    const upload = await this.get(scope, id);
    if (upload.assetId !== null) {
      // First: without the upload nothing would say whose asset it was.
      await endAsset(upload, upload.assetId);
      await this.drop(upload);
      return;
    }
    const hold = await holdUpload(this.database, this.store, scope.accountId, id);
    if (hold === null) throw beingCompleted();
    try {
      await this.drop(upload);
    } finally {
      await hold.end();
    }
  }

  /** Expired uploads of all accounts that no request is completing, by id. @param afterId null: from the first. */
  async listExpired(afterId: string | null, limit: number): Promise<ResumableUpload[]> {
    return this.store.listExpired(this.database, afterId, limit);
  }

  /** Uploads of an account, or of files with these labels, that no request is completing, by id. @param afterId null: from the first. */
  async listOf(
    accountId: string,
    labels: JobMetadata | null,
    limit: number,
    afterId: string | null = null,
  ): Promise<ResumableUpload[]> {
    return this.store.listOf(this.database, accountId, labels, limit, afterId);
  }

  /** Whether a request is completing one of those. */
  async hasHeld(accountId: string, labels: JobMetadata | null): Promise<boolean> {
    return this.store.hasHeld(this.database, accountId, labels);
  }

  /** Remove an upload with what arrived of it, or what a completed one left behind. @returns false when it was gone. */
  async drop({ accountId, id, handle }: ResumableUpload): Promise<boolean> {
    await this.parts.abort(handle);
    return this.store.remove(this.database, accountId, id);
  }

  /** @returns the sizes of the parts that are there, by number; `all` once they were joined. */
  private async arrivedOf({ handle, assetId }: ResumableUpload): Promise<Map<number, number> | 'all'> {
    if (assetId !== null) return 'all';
    const parts = await this.parts.list(handle);
    if (parts.length === 0 && (await this.parts.isAssembled(handle))) return 'all';
    return new Map(parts.map(({ number, sizeBytes }) => [number, sizeBytes]));
  }

  private async assertWhole(upload: ResumableUpload): Promise<void> {
    const arrived = await this.turns.run(upload.accountId, () => this.arrivedOf(upload));
    if (arrived === 'all') return;
    const missing = specsOf(upload).filter(({ number, sizeBytes }) => arrived.get(number) !== sizeBytes);
    if (missing.length === 0) return;
    throw partsMissing(missing.map(({ number }) => number));
  }
}
