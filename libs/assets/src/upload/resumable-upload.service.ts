import type { Readable } from 'node:stream';
import { Refusal, isUuid, newId } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { AssetService, MintedAsset, UploadFields } from '../records';
import type { AssetSettings } from '../assets.settings';
import { fileTooLarge, type PartSpec, type PartStore, type StagedBytes } from '../store';
import type { ResumableUpload, ResumableUploadStore } from './resumable-upload.store';
import type { UploadService } from './upload.service';

/** Shorter than staged bytes are kept, so that the sweep of staging removes nothing of an open upload. */
const UPLOAD_SECONDS = 20 * 3_600;
const OPEN_UPLOADS_PER_ACCOUNT = 20;
const RETRY_SECONDS = 60;
/** Longer than reading the largest upload back takes; after that the hold of a process that died has ended. */
const HOLD_SECONDS = 3_600;
/** Parts named in a refusal; the upload itself lists them all. */
const NAMED_PARTS = 100;

export interface PartState extends PartSpec {
  received: boolean;
  /** Where to PUT its bytes; null where our own route takes them, or where they have arrived. */
  link: string | null;
}

/** Uploads of large files in parts that can be sent again: begun here, sent to the store, and joined here. */
export class ResumableUploadService {
  constructor(
    private readonly database: Database,
    private readonly store: ResumableUploadStore,
    private readonly parts: PartStore,
    private readonly uploads: UploadService,
    private readonly assets: AssetService,
    private readonly settings: Pick<AssetSettings, 'maxResumableUploadBytes' | 'uploadPartBytes' | 'signedUrlSeconds'>,
  ) {}

  /**
   * Begin an upload of a file whose size is known.
   *
   * @throws Refusal `payload_too_large`; `rate_limited` when the day's bytes would be too many, or too many are open.
   */
  async begin(
    accountId: string,
    sizeBytes: number,
    fields: UploadFields,
    terms: { uploadBytesPerDay: number | null },
  ): Promise<ResumableUpload> {
    const { maxResumableUploadBytes: maxBytes, uploadPartBytes: partBytes } = this.settings;
    if (sizeBytes > maxBytes) throw fileTooLarge(maxBytes);
    await this.uploads.assertRoomToday(accountId, sizeBytes, terms.uploadBytesPerDay);
    const handle = await this.parts.begin();
    const draft = { id: newId(), accountId, handle, sizeBytes, partBytes, fields };
    const limits = { lifetimeSeconds: UPLOAD_SECONDS, openLimit: OPEN_UPLOADS_PER_ACCOUNT };
    const made = await this.store.insert(this.database, draft, limits);
    if (made !== null) return made;
    await this.parts.abort(handle);
    const message = `This account has ${OPEN_UPLOADS_PER_ACCOUNT} uploads open; complete or delete one of them first.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
  }

  /** @throws Refusal `not_found`. */
  async get(accountId: string, id: string): Promise<ResumableUpload> {
    const upload = isUuid(id) ? await this.store.find(this.database, accountId, id) : null;
    if (upload === null) throw new Refusal('not_found', `There is no upload ${id.slice(0, 64)}.`);
    return upload;
  }

  /** Every part of an upload: whether it has arrived, and where it can be sent. */
  async partsOf(upload: ResumableUpload): Promise<PartState[]> {
    const completed = upload.assetId !== null;
    const arrived = new Map(
      completed ? [] : (await this.parts.list(upload.handle)).map(({ number, sizeBytes }) => [number, sizeBytes]),
    );
    return Promise.all(
      specsOf(upload).map(async (spec) => {
        const received = completed || arrived.get(spec.number) === spec.sizeBytes;
        const seconds = this.settings.signedUrlSeconds;
        return { ...spec, received, link: received ? null : await this.parts.link(upload.handle, spec, seconds) };
      }),
    );
  }

  /** Store one part, where the store has no links of its own. @throws Refusal `not_found`, `invalid_request`. */
  async receive(accountId: string, id: string, number: number, source: Readable): Promise<void> {
    const upload = await this.get(accountId, id);
    const spec = specsOf(upload).find((part) => part.number === number);
    if (spec === undefined || upload.assetId !== null) {
      throw new Refusal('not_found', `Upload ${id} has no part ${number} to send.`);
    }
    await this.parts.write(upload.handle, spec, source);
  }

  /**
   * Join the parts, hash the whole, and mint its asset. Repeating it returns the same asset. Bytes that are refused here are
   * gone, and the upload with them.
   *
   * @throws Refusal `not_found`, `upload_incomplete`, `hash_mismatch`, `rate_limited`; BlobStoreError.
   */
  async complete(accountId: string, id: string, terms: { uploadBytesPerDay: number | null }): Promise<MintedAsset> {
    const upload = await this.get(accountId, id);
    if (upload.assetId !== null) {
      return { asset: await this.assets.get(accountId, upload.assetId), createdNew: false };
    }
    if (!(await this.store.hold(this.database, accountId, id, HOLD_SECONDS))) throw beingCompleted();
    try {
      await this.assertWhole(upload);
      const staged = await this.parts.assemble(upload.handle, specsOf(upload).length);
      return await this.mint(upload, staged, terms);
    } finally {
      await this.store.release(this.database, accountId, id).catch(() => undefined);
    }
  }

  private async mint(
    { accountId, id, fields }: ResumableUpload,
    staged: StagedBytes,
    { uploadBytesPerDay }: { uploadBytesPerDay: number | null },
  ): Promise<MintedAsset> {
    try {
      return await this.uploads.commit(accountId, staged, fields, { uploadBytesPerDay, resumableId: id });
    } catch (error) {
      // The bytes were discarded, so nothing is left to complete.
      await this.store.remove(this.database, accountId, id);
      throw error;
    }
  }

  /** Drop an upload and what has arrived of it. @throws Refusal `not_found`, `upload_incomplete` while it is completed. */
  async abort(accountId: string, id: string): Promise<void> {
    const upload = await this.get(accountId, id);
    if (upload.assetId === null && !(await this.store.hold(this.database, accountId, id, HOLD_SECONDS))) {
      throw beingCompleted();
    }
    await this.drop(upload);
  }

  /** Drop expired uploads, at most `limit`. @returns how many. */
  async sweep(limit: number): Promise<number> {
    const expired = await this.store.expired(this.database, limit);
    for (const upload of expired) await this.drop(upload);
    return expired.length;
  }

  private async drop({ accountId, id, handle, assetId }: ResumableUpload): Promise<void> {
    if (assetId === null) await this.parts.abort(handle);
    await this.store.remove(this.database, accountId, id);
  }

  private async assertWhole(upload: ResumableUpload): Promise<void> {
    const arrived = new Map((await this.parts.list(upload.handle)).map(({ number, sizeBytes }) => [number, sizeBytes]));
    // Nothing at all: an earlier request joined the parts and then broke off.
    const missing = specsOf(upload).filter(({ number, sizeBytes }) => arrived.get(number) !== sizeBytes);
    if (missing.length === 0) return;
    if (arrived.size === 0 && (await this.parts.isAssembled(upload.handle))) return;
    const numbers = missing.slice(0, NAMED_PARTS).map(({ number }) => number);
    const message = `${missing.length} parts of the upload have not arrived whole, the first of them part ${numbers[0]}.`;
    throw new Refusal('upload_incomplete', message, { details: { missing: numbers } });
  }
}

/** The parts that a file comes in. */
function specsOf({ sizeBytes, partBytes }: ResumableUpload): PartSpec[] {
  return Array.from({ length: Math.ceil(sizeBytes / partBytes) }, (_, index) => ({
    number: index + 1,
    sizeBytes: Math.min(partBytes, sizeBytes - index * partBytes),
  }));
}

function beingCompleted(): Refusal {
  return new Refusal('upload_incomplete', 'Another request is completing the upload; read it to see the result.');
}
