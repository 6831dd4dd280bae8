import type { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';
import type { AssetSettings } from '../assets.settings';
import { sniffContentType } from '../media';
import type { BlobService, StoredOutput } from '../records';
import type { PartSpec, PartStore } from '../store';

/** The least that S3 takes, apart from the last part: a worker holds one in memory, so that it can send it again. */
const PART_BYTES = 5 * 1024 * 1024;

/**
 * Outputs of jobs that arrive in parts from a worker which cannot write to the store: through links of the store where it has
 * some, else through us. What arrived is read once and hashed before it counts, so that it does not depend on the sender.
 * What is never completed, the sweep of staging removes.
 */
export class OutputUploads {
  /** Size of the parts in bytes, but the last. */
  readonly partBytes = PART_BYTES;

  constructor(
    private readonly parts: PartStore,
    private readonly blobs: Pick<BlobService, 'keep'>,
    private readonly settings: Pick<AssetSettings, 'signedUrlSeconds' | 'maxResumableUploadBytes'>,
  ) {}

  /** Whether `write` has a whole part in memory until it is stored. */
  get holdsParts(): boolean {
    return this.parts.holdsParts;
  }

  /** @returns the store's name of a new upload. @throws BlobStoreError. */
  begin(): Promise<string> {
    return this.parts.begin();
  }

  /**
   * A link to PUT one part to; null where `write` takes it.
   *
   * @throws Refusal `payload_too_large` for a part beyond the largest file that there may be, or larger than parts are.
   */
  async link(handle: string, part: PartSpec): Promise<string | null> {
    this.assertFits(part);
    return this.parts.link(handle, part, this.settings.signedUrlSeconds);
  }

  /** Take in one part. @throws Refusal `invalid_request` when it is not of its size; BlobStoreError. */
  async write(handle: string, part: PartSpec, source: Readable): Promise<void> {
    this.assertFits(part);
    await this.parts.write(handle, part, source);
  }

  /**
   * Join the parts and keep them as a blob of the account.
   *
   * @throws Refusal `hash_mismatch` when the bytes are not those of `hash`: nothing is kept then; BlobStoreError, `missing` when
   * the upload was completed or swept before.
   */
  async complete(
    accountId: string,
    handle: string,
    { parts, hash, name }: { parts: number; hash: string; name: string },
  ): Promise<StoredOutput> {
    const bytes = await this.parts.assemble(handle, parts);
    try {
      if (bytes.hash !== hash) {
        throw new Refusal(
          'hash_mismatch',
          `The bytes that arrived have the hash ${bytes.hash}, not ${hash}; send them again.`,
        );
      }
      const blob = await this.blobs.keep(accountId, bytes);
      return { blob, contentType: sniffContentType(bytes.head, name) };
    } finally {
      // Where this fails, the sweep of staging finds what stays behind.
      await bytes.discard().catch(() => undefined);
    }
  }

  private assertFits({ number, sizeBytes }: PartSpec): void {
    const { maxResumableUploadBytes: maxBytes } = this.settings;
    if (sizeBytes <= PART_BYTES && (number - 1) * PART_BYTES + sizeBytes <= maxBytes) return;
    throw new Refusal(
      'payload_too_large',
      `Outputs have ${maxBytes} bytes at most, and come in parts of ${PART_BYTES} bytes.`,
    );
  }
}
