import { z } from 'zod';
import { type Host, Interrupted, ServiceFailure, ServiceRefusal } from '../process';
import type { ApiClient } from './api.client';
import { hashFile } from './file-hash';
import { sizeOf, unreadable } from './local-file';
import { COMPLETE_WITHIN_MS, sendParts, untilComplete, type UploadParts, UploadPartsView } from './parts-upload';
import type { UploadOptions } from './upload';
import { readAs } from './wire';

const PAGE_LIMIT = 100;

const ModelView = z.looseObject({
  id: z.string(),
  folder: z.string(),
  name: z.string(),
  shared: z.boolean(),
  state: z.string(),
  problem: z.string().nullable(),
  kind: z.string().nullable(),
  size_bytes: z.int().nullable(),
  received_bytes: z.int(),
  hash: z.string().nullable(),
  upload: UploadPartsView.optional(),
});
const ModelPageView = z.looseObject({ models: z.array(ModelView), next_cursor: z.string().optional() });
export type ModelRecord = z.output<typeof ModelView>;

/** What is said of a model. */
export interface ModelFields {
  folder: string;
  name: string;
  licence?: string | undefined;
  sourceUrl?: string | undefined;
}

type ProgressOptions = Pick<UploadOptions, 'signal' | 'watcher'>;

/** The operations on the model library. */
export class ModelsClient {
  constructor(
    private readonly api: ApiClient,
    private readonly host: Host,
  ) {}

  /** Newest first, over as many pages as there are. */
  async list(folder?: string): Promise<ModelRecord[]> {
    const found: ModelRecord[] = [];
    let cursor: string | undefined;
    do {
      const url = this.api.platform('/models');
      url.searchParams.set('limit', String(PAGE_LIMIT));
      if (folder !== undefined) url.searchParams.set('folder', folder);
      if (cursor !== undefined) url.searchParams.set('cursor', cursor);
      const page = readAs(ModelPageView, await this.api.json(url), 'list of models');
      found.push(...page.models);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return found;
  }

  async get(id: string, signal?: AbortSignal): Promise<ModelRecord> {
    return readAs(ModelView, await this.api.json(this.at(id), { signal }), 'model');
  }

  /** Have the service fetch a model. @param hash `blake3:` or `sha256:`, and 64 hexadecimal digits. */
  async import(fields: ModelFields, url: string, hash?: string): Promise<ModelRecord> {
    const { folder, name, licence } = fields;
    const json = { folder, name, url, ...(hash && { hash }), ...(licence && { licence }) };
    return readAs(
      ModelView,
      await this.api.json(this.api.platform('/model-imports'), { method: 'POST', json }),
      'model',
    );
  }

  /**
   * Upload a file in parts. An upload of the same file that broke off, at Ctrl-C too, goes on with the parts that are missing.
   *
   * @throws {UsageFailure} when there is no such file.
   * @throws {ServiceFailure} `hash_mismatch` when the parts that had arrived are of another file.
   */
  async upload(path: string, fields: ModelFields, options: ProgressOptions = {}): Promise<ModelRecord> {
    try {
      return await this.sendFile(path, fields, options);
    } catch (error) {
      if (!options.signal?.aborted) throw error;
      throw new Interrupted(
        `Interrupted; what has arrived of ${path} is kept.`,
        'Run it again: the upload goes on, or is found complete. See `millrace models ls`.',
      );
    }
  }

  async remove(id: string): Promise<void> {
    await this.api.text(this.at(id), { method: 'DELETE' });
  }

  private async sendFile(path: string, fields: ModelFields, options: ProgressOptions): Promise<ModelRecord> {
    const { signal, watcher } = options;
    const sizeBytes = await sizeOf(path);
    const onRead = (bytes: number): void => watcher?.moved('reading', bytes, sizeBytes);
    const hash = await hashFile(path, signal, onRead).catch((error: unknown) =>
      Promise.reject(unreadable(path, error)),
    );
    const begun = await this.begin(fields, sizeBytes, hash, signal);
    if (begun.state === 'ready') return begun;
    const read = async (): Promise<UploadParts> => partsOf(await this.get(begun.id, signal), hash);
    // A list has no parts.
    await sendParts(this.api, this.host, { path, sizeBytes, upload: await read(), read, watcher, signal });
    return verified(await this.complete(begun.id, signal), hash);
  }

  private async complete(id: string, signal?: AbortSignal): Promise<ModelRecord> {
    const options = { method: 'POST', headWithinMs: COMPLETE_WITHIN_MS, isRepeatable: true, signal } as const;
    const model = await untilComplete(this.host, () => this.api.json(this.at(id, '/complete'), options), signal);
    return readAs(ModelView, model, 'model');
  }

  /** Begin an upload, find the one of this file that broke off, or the model that it became. */
  private async begin(
    fields: ModelFields,
    sizeBytes: number,
    hash: string,
    signal?: AbortSignal,
  ): Promise<ModelRecord> {
    const { folder, name, licence, sourceUrl } = fields;
    const said = { ...(licence && { licence }), ...(sourceUrl && { source_url: sourceUrl }) };
    const json = { folder, name, size_bytes: sizeBytes, hash, ...said };
    try {
      const options = { method: 'POST', json, isRepeatable: true, signal } as const;
      return readAs(ModelView, await this.api.json(this.api.platform('/models'), options), 'model');
    } catch (error) {
      if (!(error instanceof ServiceRefusal) || error.facts.code !== 'model_exists') throw error;
      const found = (await this.list(folder)).find((one) => one.name === name && !one.shared);
      const isThis = found?.state === 'ready' ? found.hash === hash : found?.state === 'uploading';
      if (found?.size_bytes !== sizeBytes || !isThis) throw error;
      return found;
    }
  }

  private at(id: string, rest = ''): URL {
    return this.api.platform(`/models/${encodeURIComponent(id)}${rest}`);
  }
}

/** The parts of a model's upload; none where it has arrived whole. @throws {ServiceFailure} `hash_mismatch` where it began with another file. */
function partsOf(model: ModelRecord, hash: string): UploadParts {
  const { upload = { part_size_bytes: 0, parts: [] } } = model;
  const { expected_hash: announced = null } = upload;
  if (announced !== null && announced !== hash) throw ofOtherFile(model, announced, hash);
  return upload;
}

/** An upload that goes on may have begun with another file of the same size. @throws {ServiceFailure} `hash_mismatch` */
function verified(model: ModelRecord, hash: string): ModelRecord {
  if (model.hash === hash) return model;
  const { folder, name, problem } = model;
  if (problem !== null) throw new ServiceFailure(`${folder}/${name} did not become a model: ${problem}`);
  throw ofOtherFile(model, model.hash, hash);
}

function ofOtherFile({ id, folder, name }: ModelRecord, theirs: string | null, yours: string): ServiceFailure {
  return new ServiceFailure(`${folder}/${name} has parts of another file: it is ${theirs}, yours is ${yours}.`, {
    code: 'hash_mismatch',
    cure: `Delete it, and upload yours again: millrace models delete ${id}`,
  });
}
