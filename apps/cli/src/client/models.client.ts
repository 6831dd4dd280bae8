import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { type Host, ServiceFailure, ServiceRefusal, wasNotSent } from '../process';
import type { ApiClient } from './api.client';
import { sizeOf, unreadable } from './assets.client';
import { hashFile } from './file-hash';
import { readAs } from './wire';

const PART_TRIES = 3;
const RETRY_MS = 500;
/** The service reads all of a file before it answers that it is complete, which may take longer than a connection stays open. */
const COMPLETE_WITHIN_MS = 3_600_000;
const COMPLETE_AGAIN_MS = 5_000;
const PAGE_LIMIT = 100;

const PartView = z.object({ number: z.int(), size_bytes: z.int(), received: z.boolean(), url: z.string().nullable() });
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
  upload: z.looseObject({ part_size_bytes: z.int(), parts: z.array(PartView) }).optional(),
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

  async get(id: string): Promise<ModelRecord> {
    return readAs(ModelView, await this.api.json(this.at(id)), 'model');
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
   * Upload a file in parts. An upload of the same file that broke off goes on with the parts that are missing.
   *
   * @param onPart called with the bytes that have arrived.
   * @throws {UsageFailure} when there is no such file.
   * @throws {ServiceFailure} `hash_mismatch` when the parts that had arrived are of another file.
   */
  async upload(
    path: string,
    fields: ModelFields,
    onPart: (arrived: number, size: number) => void,
  ): Promise<ModelRecord> {
    const sizeBytes = await sizeOf(path);
    const hash = await hashFile(path).catch((error: unknown) => Promise.reject(unreadable(path, error)));
    const begun = await this.begin(fields, sizeBytes, hash);
    if (begun.state === 'ready') return begun;
    // A list has no parts.
    const { upload } = await this.get(begun.id);
    let arrived = 0;
    for (const { number, size_bytes: size, received, url } of upload?.parts ?? []) {
      const start = (number - 1) * (upload?.part_size_bytes ?? 0);
      if (!received && url !== null) await this.send(begun.id, { path, start, size, number, url });
      onPart((arrived += size), sizeBytes);
    }
    return verified(await this.complete(begun.id), hash);
  }

  async remove(id: string): Promise<void> {
    await this.api.text(this.at(id), { method: 'DELETE' });
  }

  /** Asked again where the answer is lost: the service goes on joining the parts meanwhile, and then answers with the model. */
  private async complete(id: string): Promise<ModelRecord> {
    const untilMs = this.host.nowMs() + COMPLETE_WITHIN_MS;
    const options = { method: 'POST', headWithinMs: COMPLETE_WITHIN_MS } as const;
    for (let isUnderWay = false; ;) {
      try {
        return readAs(ModelView, await this.api.json(this.at(id, '/complete'), options), 'model');
      } catch (error) {
        isUnderWay ||= error instanceof ServiceFailure && !wasNotSent(error);
        const isBusy = error instanceof ServiceRefusal && error.code === 'upload_incomplete' && !error.facts.details;
        if (!isUnderWay || !(isBusy || error instanceof ServiceFailure) || this.host.nowMs() > untilMs) throw error;
        await this.host.wait(COMPLETE_AGAIN_MS);
      }
    }
  }

  /** Begin an upload, find the one of this file that broke off, or the model that it became. */
  private async begin(fields: ModelFields, sizeBytes: number, hash: string): Promise<ModelRecord> {
    const { folder, name, licence, sourceUrl } = fields;
    const said = { ...(licence && { licence }), ...(sourceUrl && { source_url: sourceUrl }) };
    const json = { folder, name, size_bytes: sizeBytes, hash, ...said };
    try {
      return readAs(ModelView, await this.api.json(this.api.platform('/models'), { method: 'POST', json }), 'model');
    } catch (error) {
      if (!(error instanceof ServiceRefusal) || error.facts.code !== 'model_exists') throw error;
      const found = (await this.list(folder)).find((one) => one.name === name && !one.shared);
      const isThis = found?.state === 'ready' ? found.hash === hash : found?.state === 'uploading';
      if (found?.size_bytes !== sizeBytes || !isThis) throw error;
      return found;
    }
  }

  private async send(
    id: string,
    part: { path: string; start: number; size: number; number: number; url: string },
  ): Promise<void> {
    const { path, start, size } = part;
    const stream = {
      headers: { 'content-length': String(size), 'content-type': 'application/octet-stream' },
      open: () => createReadStream(path, { start, end: start + size - 1 }),
    };
    let { url } = part;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.api.text(this.api.link(url), { method: 'PUT', stream });
        return;
      } catch (error) {
        if (!(error instanceof ServiceFailure || error instanceof ServiceRefusal) || attempt === PART_TRIES)
          throw error;
        await this.host.wait(RETRY_MS * 2 ** attempt);
        // Its link may have expired.
        const { upload } = await this.get(id);
        const fresh = upload?.parts.find(({ number }) => number === part.number);
        if (fresh === undefined || fresh.received || fresh.url === null) return;
        url = fresh.url;
      }
    }
  }

  private at(id: string, rest = ''): URL {
    return this.api.platform(`/models/${encodeURIComponent(id)}${rest}`);
  }
}

/** An upload that goes on may have begun with another file of the same size. @throws {ServiceFailure} `hash_mismatch` */
function verified(model: ModelRecord, hash: string): ModelRecord {
  if (model.hash === hash) return model;
  const { folder, name, problem } = model;
  if (problem !== null) throw new ServiceFailure(`${folder}/${name} did not become a model: ${problem}`);
  throw new ServiceFailure(`${folder}/${name} has parts of another file: it is ${model.hash}, yours is ${hash}.`, {
    code: 'hash_mismatch',
    cure: `Delete it, and upload yours again: millrace models delete ${model.id}`,
  });
}
