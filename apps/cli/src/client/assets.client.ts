import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { isUuid } from '@millrace/contracts';
import { type Host, Interrupted, ServiceFailure, ServiceRefusal, UsageFailure } from '../process';
import type { ApiClient } from './api.client';
import { beginInParts, sendInParts, TAKES_NO_PARTS } from './asset-parts';
import { contentTypeOf } from './content-type';
import { hashFile } from './file-hash';
import { sizeOf, unreadable } from './local-file';
import { multipartBody } from './multipart-body';
import type { FileToUpload, UploadOptions } from './upload';
import { type AssetRecord, AssetView, readAs, recordOf } from './wire';

/** What a list of assets shows. */
export interface AssetFilter {
  limit: number;
  /** Uploads by default. */
  kind?: 'upload' | 'output';
  /** What the content type begins with. */
  contentType?: string;
}

/** The most assets of one page. */
const PAGE_LIMIT = 100;
const UPLOAD_TRIES = 3;
const RETRY_MS = 500;
/** Larger files are sent in parts: a form that breaks off is sent again from its start, and a service takes only some sizes as a form. */
const FORM_BYTES = 32 * 1024 * 1024;

/** The operations on assets. */
export class AssetsClient {
  constructor(
    private readonly api: ApiClient,
    private readonly host: Host,
  ) {}

  /**
   * Upload a file as a stream, with its hash for the service to check. A large one goes in parts, so that it goes on where the
   * connection broke. Ctrl-C and a failure leave nothing of it at the service, unless all of it has arrived.
   *
   * @throws {UsageFailure} when there is no such file.
   */
  async upload(path: string, options: UploadOptions = {}): Promise<AssetRecord> {
    const { signal, watcher } = options;
    const sizeBytes = await sizeOf(path);
    const onRead = (bytes: number): void => watcher?.moved('reading', bytes, sizeBytes);
    const hash = await hashFile(path, signal, onRead).catch((error: unknown) => {
      if (signal?.aborted) throw new Interrupted('Interrupted.');
      throw unreadable(path, error);
    });
    const contentType = options.contentType ?? contentTypeOf(path);
    const file = { path, sizeBytes, fileName: basename(path), contentType, hash };
    return sizeBytes > FORM_BYTES ? this.uploadLarge(file, options) : this.uploadSmall(file, options);
  }

  /** How large a form may be is a setting of the service. */
  private async uploadSmall(file: FileToUpload, options: UploadOptions): Promise<AssetRecord> {
    const asset = await orRefusal(this.uploadForm(file, options), ['payload_too_large']);
    if (!(asset instanceof ServiceRefusal)) return asset;
    const begun = await orRefusal(beginInParts(this.api, file, options), TAKES_NO_PARTS);
    if (begun instanceof ServiceRefusal) throw asset;
    return sendInParts(this.api, this.host, file, begun, options);
  }

  /** Parts are additive to the contract, and an account may have only so many uploads in parts open. */
  private async uploadLarge(file: FileToUpload, options: UploadOptions): Promise<AssetRecord> {
    const begun = await orRefusal(beginInParts(this.api, file, options), [...TAKES_NO_PARTS, 'rate_limited']);
    if (!(begun instanceof ServiceRefusal)) return sendInParts(this.api, this.host, file, begun, options);
    const asset = await orRefusal(this.uploadForm(file, options), ['payload_too_large']);
    if (!(asset instanceof ServiceRefusal)) return asset;
    throw begun.code === 'rate_limited' ? begun : asset;
  }

  /** Newest first, at most `limit`, over as many pages as that takes. */
  async list({ limit, kind, contentType }: AssetFilter): Promise<AssetRecord[]> {
    const found: AssetRecord[] = [];
    let cursor: string | undefined;
    do {
      const url = this.api.api('/assets');
      url.searchParams.set('limit', String(Math.min(PAGE_LIMIT, limit - found.length)));
      if (kind) url.searchParams.set('kind', kind);
      if (contentType) url.searchParams.set('content_type', contentType);
      if (cursor) url.searchParams.set('cursor', cursor);
      const page = recordOf(await this.api.json(url));
      found.push(...readAs(AssetView.array(), page.assets, 'list of assets'));
      cursor = typeof page.next_cursor === 'string' ? page.next_cursor : undefined;
    } while (cursor && found.length < limit);
    return found.slice(0, limit);
  }

  async get(id: string, signal?: AbortSignal): Promise<AssetRecord> {
    return readAs(AssetView, await this.api.json(this.at(id), { signal }), 'asset');
  }

  async remove(id: string): Promise<void> {
    await this.api.text(this.at(id), { method: 'DELETE' });
  }

  /** Retried when the service fails meanwhile: the same bytes become the same blob. */
  private async uploadForm(file: FileToUpload, options: UploadOptions): Promise<AssetRecord> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.uploadOnce(file, options);
      } catch (error) {
        if (!(error instanceof ServiceFailure) || attempt === UPLOAD_TRIES) throw error;
        options.watcher?.interrupted(error.message);
        await this.host.wait(RETRY_MS * 2 ** attempt, options.signal);
      }
    }
  }

  private async uploadOnce(file: FileToUpload, options: UploadOptions): Promise<AssetRecord> {
    const fields: [string, string][] = [
      ['content_type', file.contentType],
      ['file_path', file.fileName],
      ['expected_hash', file.hash],
      ...(options.tags ?? []).map((tag): [string, string] => ['tags', tag]),
    ];
    if (options.expiresInSeconds) fields.push(['expires_in', String(options.expiresInSeconds)]);
    const answer = await this.api.json(this.api.api('/assets'), {
      method: 'POST',
      // A new key each time: it guards against a repetition by a proxy, and a key whose upload was lost would be refused.
      headers: { 'idempotency-key': randomUUID() },
      stream: multipartBody(fields, file, (bytes) => options.watcher?.moved('sending', bytes, file.sizeBytes)),
      isRepeatable: true,
      signal: options.signal,
    });
    return readAs(AssetView, answer, 'asset');
  }

  private at(id: string): URL {
    assertAssetId(id);
    return this.api.api(`/assets/${id}`);
  }
}

/** @throws {UsageFailure} */
export function assertAssetId(id: string): void {
  if (isUuid(id)) return;
  throw new UsageFailure(`${JSON.stringify(id)} is not an asset id.`, 'Use the id that `assets put` printed.');
}

/** What comes of it, or the refusal where the service refuses it with one of these codes. */
async function orRefusal<T>(done: Promise<T>, codes: readonly string[]): Promise<T | ServiceRefusal> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof ServiceRefusal && codes.includes(error.code)) return error;
    throw error;
  }
}
