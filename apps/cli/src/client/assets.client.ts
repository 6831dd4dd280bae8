import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isUuid } from '@millrace/contracts';
import { codeOf, type Host, Interrupted, reasonOf, ServiceFailure, UsageFailure } from '../process';
import type { ApiClient } from './api.client';
import { contentTypeOf } from './content-type';
import { hashFile } from './file-hash';
import { multipartBody, type FilePart } from './multipart-body';
import { type AssetRecord, AssetView, readAs, recordOf } from './wire';

export interface UploadOptions {
  contentType?: string;
  tags?: string[];
  expiresInSeconds?: number;
  signal?: AbortSignal;
}

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

/** The operations on assets. */
export class AssetsClient {
  constructor(
    private readonly api: ApiClient,
    private readonly host: Host,
  ) {}

  /**
   * Upload a file as a stream, with its hash for the service to check. Retried when the service fails meanwhile: the same
   * bytes become the same blob.
   *
   * @throws {UsageFailure} when there is no such file.
   */
  async upload(path: string, options: UploadOptions = {}): Promise<AssetRecord> {
    const sizeBytes = await sizeOf(path);
    const contentType = options.contentType ?? contentTypeOf(path);
    const file = { path, sizeBytes, fileName: basename(path), contentType };
    const hash = await hashFile(path, options.signal).catch((error: unknown) => {
      if (options.signal?.aborted) throw new Interrupted('Interrupted.');
      throw unreadable(path, error);
    });
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.uploadOnce(file, hash, options);
      } catch (error) {
        if (!(error instanceof ServiceFailure) || attempt === UPLOAD_TRIES) throw error;
        await this.host.wait(RETRY_MS * 2 ** attempt, options.signal);
      }
    }
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

  private async uploadOnce(file: FilePart, hash: string, options: UploadOptions): Promise<AssetRecord> {
    const fields: [string, string][] = [
      ['content_type', file.contentType],
      ['file_path', file.fileName],
      ['expected_hash', hash],
      ...(options.tags ?? []).map((tag): [string, string] => ['tags', tag]),
    ];
    if (options.expiresInSeconds) fields.push(['expires_in', String(options.expiresInSeconds)]);
    const answer = await this.api.json(this.api.api('/assets'), {
      method: 'POST',
      // A new key each time: it guards against a repetition by a proxy, and a key whose upload was lost would be refused.
      headers: { 'idempotency-key': randomUUID() },
      stream: multipartBody(fields, file),
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

/** The size of a file in bytes. @throws {UsageFailure} unless `path` is an existing file. */
export async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => Promise.reject(unreadable(path, error)));
  if (!found.isFile()) throw new UsageFailure(`${path} is not a file.`, 'Name a file.');
  return found.size;
}

const READ_FAULTS: Record<string, string> = { ENOENT: 'no such file', EISDIR: 'it is a folder' };

export function unreadable(path: string, error: unknown): UsageFailure {
  const reason = READ_FAULTS[codeOf(error) ?? ''] ?? reasonOf(error);
  return new UsageFailure(`${path} cannot be read: ${reason}.`, 'Check the path.');
}
