import type { Readable } from 'node:stream';
import { Refusal, newId } from '@millrace/contracts';
import { RefusedError, claimKey, isKeyClaimed, repeatUndone, type Database, type Statements } from '@millrace/database';
import {
  blobGone,
  wholeAccount,
  type AssetFields,
  type AssetRecord,
  type AssetScope,
  type AssetStore,
  type BlobRecordStore,
  type BlobService,
  type MintedAsset,
  type Reservation,
  type StorageQuota,
  type StoredBlob,
  type UploadFields,
} from '../records';
import type { AssetSettings } from '../assets.settings';
import { fileTooLarge, takeSource, type StagedBytes } from '../store';
import type { ResumableUploadStore } from './resumable-upload.store';
import { StagingMemory, type PlaceInMemory } from './staging-memory';
import { SHARED_UPLOAD_LIMIT, type UploadDayStore } from './upload-day.store';
import type { UploadAhead, UploadTerms } from './upload-terms';
import { keptUntilMinted, type KeptBytes } from './kept-until-minted';
import { accountClosed, isGone, keyReused, noBytes, refusalOf, uploadsUsedUp } from './upload-refusals';

/** More than fields and boundaries take: a declared size is refused only if the file alone must be too large. */
const AROUND_FILE_BYTES = 1_048_576;
/** For so long bytes stay that were found by their hash; the contract's least. The grace of blobs may be longer. */
const FOUND_SECONDS = 3_600;

/** Why an upload in parts makes no asset: another request completed or dropped it meanwhile. */
export const UPLOAD_OVER = 'upload_over';

export interface UploadStageOptions extends Pick<UploadTerms, 'uploadBytesPerDay' | 'storageBytes' | 'sharedUploads'> {
  /** Size that the file can have at most, where the request declares one. */
  declaredBytes?: number | null | undefined;
  signal?: AbortSignal | undefined;
}

/** Bytes of an upload, and the room that is reserved for them until they are committed or discarded. */
export interface ReservedBytes extends StagedBytes {
  readonly reservationId: string;
}

/** How the asset of a request is found or minted. */
interface Mint {
  blob: StoredBlob;
  fields: AssetFields;
  contentType: string;
  /** Whether an identical asset may have another content type. */
  anyContentType: boolean;
  upload?: UploadTerms;
}

/** Makes assets of customers' bytes: by upload, or by the hash of bytes uploaded before. */
export class UploadService {
  private readonly memory: StagingMemory;

  constructor(
    private readonly database: Database,
    private readonly assets: AssetStore,
    private readonly records: BlobRecordStore,
    private readonly uploadDays: UploadDayStore,
    private readonly resumables: ResumableUploadStore,
    private readonly blobs: BlobService,
    private readonly quota: Pick<StorageQuota, 'reserve'>,
    private readonly settings: Pick<AssetSettings, 'maxUploadBytes' | 'assetRetentionSeconds' | 'uploadBytesInMemory'>,
  ) {
    this.memory = new StagingMemory(settings.uploadBytesInMemory);
  }

  /** Bytes that an account has uploaded today (UTC). */
  async bytesToday(accountId: string): Promise<number> {
    return this.uploadDays.bytesToday(this.database, accountId);
  }

  /**
   * Refuse, before its bytes are read, an upload that `commit` would refuse. What passes here may still be refused: `commit`
   * claims keys and counts bytes.
   *
   * @throws Refusal `idempotency_key_reuse`, `payload_too_large`.
   */
  async admit(accountId: string, { declaredBytes, idempotencyKey }: UploadAhead): Promise<void> {
    const { maxUploadBytes } = this.settings;
    if (declaredBytes !== null && declaredBytes > maxUploadBytes + AROUND_FILE_BYTES)
      throw fileTooLarge(maxUploadBytes);
    if (idempotencyKey === undefined) return;
    if (await isKeyClaimed(this.database, accountId, 'postAssets', idempotencyKey)) throw keyReused();
  }

  /** @throws Refusal `rate_limited` when so many bytes more would be too many today, of the account or of all who share its budget. */
  async assertRoomToday(
    accountId: string,
    sizeBytes: number,
    { uploadBytesPerDay: limitBytes, sharedUploads: shared }: Pick<UploadTerms, 'uploadBytesPerDay' | 'sharedUploads'>,
  ): Promise<void> {
    if (limitBytes !== null && (await this.bytesToday(accountId)) + sizeBytes > limitBytes) {
      throw uploadsUsedUp(limitBytes);
    }
    if (shared !== undefined && (await this.bytesToday(shared.accountId)) + sizeBytes > shared.bytesPerDay) {
      throw uploadsUsedUp(shared.bytesPerDay, 'All callers together');
    }
  }

  /**
   * Take in the bytes of an upload. Nothing is visible until `commit`; a caller that does not commit must discard.
   *
   * @throws Refusal `payload_too_large`, `storage_full`, or `rate_limited` when the day's bytes are used up or too many are under way; BlobStoreError;
   * the source's own error, and then nothing is left behind.
   */
  async stage(accountId: string, source: Readable, options: UploadStageOptions): Promise<ReservedBytes> {
    takeSource(source);
    const { maxUploadBytes: maxBytes } = this.settings;
    const { stagingBytes } = this.blobs;
    const { declaredBytes = null, sharedUploads } = options;
    let place: PlaceInMemory | undefined;
    let reservation: Reservation;
    try {
      const isShared = sharedUploads !== undefined;
      place = this.memory.enter({ accountId, isShared, declaredBytes, mostBytes: stagingBytes });
      reservation = await this.reserve(accountId, options);
    } catch (error) {
      place?.leave();
      source.destroy();
      throw error;
    }
    try {
      const { signal } = options;
      const cover = (bytes: number): Promise<void> | null => {
        place.arrived(bytes);
        return reservation.cover(bytes);
      };
      const staged = await this.blobs.stage(source, { maxBytes, signal, cover });
      return reserved(staged, reservation, place);
    } catch (error) {
      place.leave();
      // Where this fails, the reservation expires.
      await reservation.release().catch(() => undefined);
      throw error;
    }
  }

  private async reserve(accountId: string, options: UploadStageOptions): Promise<Reservation> {
    const { uploadBytesPerDay: limitBytes, storageBytes = null, declaredBytes = null } = options;
    if (limitBytes !== null && (await this.uploadDays.bytesToday(this.database, accountId)) >= limitBytes) {
      throw uploadsUsedUp(limitBytes);
    }
    const { sharedUploads: shared } = options;
    if (shared !== undefined && (await this.bytesToday(shared.accountId)) >= shared.bytesPerDay) {
      throw uploadsUsedUp(shared.bytesPerDay, 'All callers together');
    }
    const largestBytes = declaredBytes === null ? null : Math.min(declaredBytes, this.settings.maxUploadBytes);
    return this.quota.reserve(accountId, largestBytes, storageBytes);
  }

  /**
   * Mint the asset of an upload from its staged bytes, or find the identical one and keep it for as long as a new one. The
   * asset, the request's key and the day's count commit together. The staged bytes are gone afterwards, also on failure.
   *
   * @throws Refusal `hash_mismatch`, `idempotency_key_reuse`, `rate_limited`; BlobStoreError.
   */
  async commit(
    accountId: string,
    staged: ReservedBytes,
    fields: UploadFields,
    terms: UploadTerms,
  ): Promise<MintedAsset> {
    try {
      return await this.record(accountId, staged, fields, terms, staged.reservationId);
    } finally {
      // Where this fails, the sweep of staging finds what stays behind.
      await staged.discard().catch(() => undefined);
    }
  }

  /**
   * As `commit`, and leaves the staged bytes to the caller, who can try again with them.
   *
   * @param reservationId the room that is reserved for them.
   */
  async record(
    accountId: string,
    staged: Pick<StagedBytes, 'hash' | 'sizeBytes' | 'place' | 'flush'>,
    fields: UploadFields,
    terms: UploadTerms,
    reservationId: string,
  ): Promise<MintedAsset> {
    if (fields.expectedHash !== null && fields.expectedHash !== staged.hash) {
      const message = `The bytes that arrived have the hash ${staged.hash}, not ${fields.expectedHash}.`;
      throw new Refusal('hash_mismatch', message);
    }
    const { contentType } = fields;
    const keep = (bytes: KeptBytes): Promise<StoredBlob> => this.blobs.keep(accountId, bytes, reservationId);
    const minted = await keptUntilMinted(staged, keep, (blob) =>
      this.mint({ blob, fields, contentType, anyContentType: false, upload: terms }),
    );
    // Whether others of the account have these bytes is not a sub-key's to know.
    return { asset: minted.asset, createdNew: fields.labels === null ? minted.wasOrphan : minted.isNew };
  }

  /**
   * Mint an asset over bytes that the account has, for a sub-key over those of an asset of its own, or find the identical one. Its content type is that of the latest asset
   * over these bytes, else the type of the bytes themselves.
   *
   * @param hash canonical; see `readMintFields`.
   * @returns the asset, and whether it is new: false where an identical one was there. Its bytes never are.
   * @throws Refusal `blob_not_found`.
   */
  async fromHash(
    scope: AssetScope,
    hash: string,
    asked: Omit<AssetFields, 'labels'>,
  ): Promise<{ asset: AssetRecord; isNew: boolean }> {
    const blob = await this.findBlob(scope, hash, 0);
    if (blob === null) throw noBytes(hash);
    const fields = { ...asked, labels: scope.labels };
    const known = await this.assets.contentTypeOf(this.database, scope, blob.hash);
    const contentType = known ?? (await this.blobs.sniff(blob, fields.filePath));
    const minting = this.mint({ blob, fields, contentType, anyContentType: true });
    const { asset, isNew } = await minting.catch((error: unknown) => {
      throw isGone(error) ? noBytes(hash) : error;
    });
    return { asset, isNew };
  }

  /**
   * True when the account has bytes of this hash; `fromHash` then finds them for an hour at least (wire supplement, section 1). A sub-key
   * has those of its assets: of those that stay so long, unless they are deleted.
   */
  async hasBlob(scope: AssetScope, hash: string): Promise<boolean> {
    return (await this.findBlob(scope, hash, FOUND_SECONDS)) !== null;
  }

  /** @param leftSeconds for which a sub-key's asset over the bytes has to stay. */
  private async findBlob(scope: AssetScope, hash: string, leftSeconds: number): Promise<StoredBlob | null> {
    if (scope.labels !== null && !(await this.assets.has(this.database, scope, hash, leftSeconds))) return null;
    return this.blobs.find(scope.accountId, hash);
  }

  private async mint(mint: Mint): Promise<{ asset: AssetRecord; wasOrphan: boolean; isNew: boolean }> {
    try {
      return await repeatUndone(() => this.database.transaction((tx) => this.mintIn(tx, mint)));
    } catch (error) {
      throw refusalOf(error, mint.upload);
    }
  }

  private async mintIn(
    tx: Statements,
    { blob, fields, contentType, anyContentType, upload }: Mint,
  ): Promise<{ asset: AssetRecord; wasOrphan: boolean; isNew: boolean }> {
    const { accountId } = blob;
    const { filePath, tags, labels } = fields;
    const keepSeconds = fields.expiresInSeconds ?? this.settings.assetRetentionSeconds ?? null;
    const before = await this.records.adopt(tx, blob);
    if (before === null) throw blobGone(blob);
    const like = { filePath, tags, labels, contentType: anyContentType ? null : contentType };
    const found = await this.assets.findIdentical(tx, blob, like);
    const id = found ?? newId();
    if (found !== null) await this.assets.extend(tx, accountId, id, keepSeconds);
    else if (!(await this.assets.insertUpload(tx, { id, blob, contentType, filePath, tags, labels }, keepSeconds)))
      throw accountClosed();
    if (upload !== undefined) await this.settle(tx, blob, id, upload);
    const asset = await this.assets.find(tx, wholeAccount(accountId), id);
    if (asset === null) throw new Error(`asset ${id} is not there, although this transaction recorded or held it`);
    return { asset, wasOrphan: before === 'orphaned', isNew: found === null };
  }

  private async settle(tx: Statements, blob: StoredBlob, subjectId: string, terms: UploadTerms): Promise<void> {
    const { accountId, sizeBytes } = blob;
    if (terms.idempotency !== undefined) {
      await claimKey(tx, { accountId, operation: 'postAssets', ...terms.idempotency }, subjectId);
    }
    await this.uploadDays.add(tx, accountId, sizeBytes, terms.uploadBytesPerDay);
    const { resumableId, sharedUploads: shared } = terms;
    if (shared !== undefined) {
      await this.uploadDays.add(tx, shared.accountId, sizeBytes, shared.bytesPerDay, SHARED_UPLOAD_LIMIT);
    }
    if (resumableId === undefined || (await this.resumables.complete(tx, accountId, resumableId, subjectId))) return;
    throw new RefusedError(UPLOAD_OVER);
  }
}

/** Discarding gives the room back, too, and the memory. */
function reserved(staged: StagedBytes, reservation: Reservation, place: PlaceInMemory): ReservedBytes {
  return {
    ...staged,
    reservationId: reservation.id,
    discard: async () => {
      try {
        await staged.discard();
      } finally {
        place.leave();
        await reservation.release();
      }
    },
  };
}
