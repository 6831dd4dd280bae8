import { Readable } from 'node:stream';
import { Refusal, isUuid } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import {
  noAsset,
  type AssetRecord,
  type AssetScope,
  type AssetService,
  type AssetStore,
  type BlobDamages,
  type BlobService,
} from '../records';
import { BlobStoreError, type ByteRange } from '../store';
import type { AssetSettings } from '../assets.settings';
import { dispositionOf, isShown, planContent, type ContentPlan, type ContentRequest } from './content-answer';

/** An answer to a request for content. `body` is null when there is nothing to send. */
export interface ContentAnswer extends Pick<ContentPlan, 'status' | 'headers'> {
  body: Readable | null;
}

/** Serves the bytes of assets. */
export class ContentService {
  constructor(
    private readonly database: Statements,
    private readonly assets: Pick<AssetService, 'get'>,
    private readonly store: AssetStore,
    private readonly blobs: BlobService,
    private readonly damages: Pick<BlobDamages, 'doubt' | 'isBack' | 'noteLost'>,
    private readonly settings: Pick<AssetSettings, 'signedUrlSeconds'>,
  ) {}

  /**
   * Answer a request for an asset's content, bytes included. The caller must read or destroy the body.
   *
   * @throws Refusal `not_found`, `content_lost` when its bytes are lost or known to be damaged, or `invalid_request` with status 416; BlobStoreError.
   */
  async open(scope: AssetScope, id: string, request: ContentRequest): Promise<ContentAnswer> {
    const asset = await this.assets.get(scope, id);
    return this.withContentOf(asset, async () => {
      const { status, headers, bytes } = planContent(asset, await this.sniffed(asset), request);
      return { status, headers, body: bytes === null ? null : await this.blobs.open(asset.blob, bytes) };
    });
  }

  /**
   * Where the store itself serves an asset's content, for the one method given; null when it does not, and `open` must.
   *
   * @param until the store's link works no longer than this: the end of our own link, where one led here.
   * @throws Refusal `not_found`, `content_lost` as far as it is known: most links are made without asking the store.
   */
  async location(scope: AssetScope, id: string, method: 'GET' | 'HEAD', until?: Date): Promise<string | null> {
    if (!this.blobs.presigns) return null;
    const asset = await this.assets.get(scope, id);
    return this.blobs.presign(asset.blob, {
      method,
      contentType: asset.contentType,
      disposition: dispositionOf(asset, await this.withContentOf(asset, () => this.sniffed(asset))),
      expiresSeconds: this.secondsUntil(until),
    });
  }

  /** Where the links of the store lead, e.g. `https://bytes.s3.example.com`; null where it has none. */
  async linkOrigin(): Promise<string | null> {
    return this.blobs.linkOrigin();
  }

  /** Rounded down, so that the store's link ends first; a store gives no link for less than a second. */
  private secondsUntil(until: Date | undefined): number {
    const { signedUrlSeconds } = this.settings;
    if (until === undefined) return signedUrlSeconds;
    return Math.max(1, Math.min(signedUrlSeconds, Math.floor((until.getTime() - Date.now()) / 1_000)));
  }

  /**
   * Open an asset that a job refers to, whether it has expired or not.
   *
   * @param from the position of the first byte of the body; it is empty where the content has none there.
   * @throws Refusal `not_found`, `content_lost`; BlobStoreError.
   */
  async openInput(accountId: string, id: string, from = 0): Promise<{ asset: AssetRecord; body: Readable }> {
    const asset = await this.referred(accountId, id);
    const { sizeBytes } = asset.blob;
    if (from > 0 && from >= sizeBytes) return { asset, body: Readable.from([]) };
    const range = from === 0 ? undefined : { start: from, end: sizeBytes - 1 };
    return { asset, body: await this.withContentOf(asset, () => this.blobs.open(asset.blob, range)) };
  }

  /**
   * Open a part of an asset that something refers to, whether it has expired or not.
   *
   * @param range positions of the first and the last byte, inside the content.
   * @throws Refusal `not_found`, `content_lost`; BlobStoreError.
   */
  async openPart(accountId: string, id: string, range: ByteRange): Promise<Readable> {
    const asset = await this.referred(accountId, id);
    return this.withContentOf(asset, () => this.blobs.open(asset.blob, range));
  }

  /**
   * An asset that a job refers to, and where the store itself serves its bytes; null where `openInput` must.
   *
   * @throws Refusal `not_found`, `content_lost` as far as it is known.
   */
  async locateInput(accountId: string, id: string): Promise<{ asset: AssetRecord; url: string | null }> {
    const asset = await this.referred(accountId, id);
    await this.assertServed(asset);
    if (!this.blobs.presigns) return { asset, url: null };
    const { contentType } = asset;
    const { signedUrlSeconds: expiresSeconds } = this.settings;
    const link = { method: 'GET', contentType, disposition: 'attachment', expiresSeconds } as const;
    return { asset, url: await this.blobs.presign(asset.blob, link) };
  }

  /**
   * A worker that read an asset that a job refers to got bytes with another hash: read them where they lie, and note it if they are damaged.
   *
   * @returns whether they are; false: they were damaged on their way.
   * @throws Refusal `not_found`; BlobStoreError.
   */
  async doubtInput(accountId: string, id: string): Promise<boolean> {
    return this.damages.doubt((await this.referred(accountId, id)).blob);
  }

  private async referred(accountId: string, id: string): Promise<AssetRecord> {
    const [asset] = isUuid(id) ? await this.store.findMany(this.database, accountId, [id]) : [];
    if (asset === undefined) throw noAsset(id);
    return asset;
  }

  /** Do what reads an asset's bytes. @throws Refusal `content_lost` when they are lost or known to be damaged; what reading throws. */
  private async withContentOf<T>(asset: AssetRecord, read: () => Promise<T>): Promise<T> {
    await this.assertServed(asset);
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof BlobStoreError && error.fault === 'missing')) throw error;
      await this.damages.noteLost(asset.blob);
      throw contentLost(asset);
    }
  }

  /** Asks nobody about bytes of which nothing bad is known. @throws Refusal `content_lost`. */
  private async assertServed(asset: AssetRecord): Promise<void> {
    if (asset.damage !== null && !(await this.damages.isBack(asset.blob, asset.damage))) throw contentLost(asset);
  }

  /** The type of the bytes. For a job's output it was found when it was stored; for an upload only the declared type is known. */
  private async sniffed(asset: AssetRecord): Promise<string> {
    const known = asset.jobId !== null || !isShown(asset.contentType);
    return known ? asset.contentType : this.blobs.sniff(asset.blob, null);
  }
}

function contentLost({ id, damage }: AssetRecord): Refusal {
  const what = damage === 'rotten' ? 'are damaged' : 'are lost';
  return new Refusal('content_lost', `The bytes of asset ${id} ${what}. Upload the file again, or run the job again.`);
}
