import { z } from 'zod';
import { type Host, Interrupted, ServiceFailure, ServiceRefusal } from '../process';
import type { ApiClient } from './api.client';
import { COMPLETE_WITHIN_MS, sendParts, untilComplete, UploadPartsView } from './parts-upload';
import type { FileToUpload, UploadOptions } from './upload';
import { type AssetRecord, AssetView, readAs } from './wire';

const BEGIN_TRIES = 3;
/** Ctrl-C waits for the answers to these: they say what is to be dropped, and whether it was. */
const ANSWER_WITHIN_MS = 15_000;

const UploadView = UploadPartsView.extend({
  expires_at: z.string(),
  urls: z.looseObject({ self: z.string(), complete: z.string() }),
});
type Upload = z.output<typeof UploadView>;

/**
 * Upload a file in parts. What ends it before its asset is there drops it at the service.
 *
 * @throws {ServiceRefusal} `not_found` where the service takes no parts; otherwise as `sendParts` and `untilComplete`.
 */
export async function uploadAssetInParts(
  api: ApiClient,
  host: Host,
  file: FileToUpload,
  options: UploadOptions,
): Promise<AssetRecord> {
  const { signal, watcher } = options;
  if (signal?.aborted) throw new Interrupted('Interrupted.');
  // One whose answer is lost is dropped by the service when it expires.
  const begun = await begin(api, file, options);
  try {
    if (signal?.aborted) throw new Interrupted('Interrupted.');
    const self = api.link(begun.urls.self);
    const read = async (): Promise<Upload> => readAs(UploadView, await api.json(self, { signal }), 'upload');
    await sendParts(api, host, { ...file, upload: begun, read, watcher, signal });
    const complete = { method: 'POST', headWithinMs: COMPLETE_WITHIN_MS, signal } as const;
    const asset = await untilComplete(host, () => api.json(api.link(begun.urls.complete), complete), signal);
    return readAs(AssetView, asset, 'asset');
  } catch (error) {
    const outcome = await drop(api, begun);
    if (signal?.aborted) throw interruptedWith(outcome, file, begun);
    throw error instanceof ServiceRefusal && error.code === 'hash_mismatch' ? changed(file, error) : error;
  }
}

async function begin(api: ApiClient, file: FileToUpload, { tags, expiresInSeconds }: UploadOptions): Promise<Upload> {
  const json = {
    size_bytes: file.sizeBytes,
    content_type: file.contentType,
    file_path: file.fileName,
    expected_hash: file.hash,
    ...(tags && { tags }),
    ...(expiresInSeconds !== undefined && { expires_in: expiresInSeconds }),
  };
  const options = { method: 'POST', json, tries: BEGIN_TRIES, headWithinMs: ANSWER_WITHIN_MS } as const;
  return readAs(UploadView, await api.json(api.api('/uploads'), options), 'upload');
}

/** @returns `kept` where the service is completing it: then its asset stays. */
async function drop(api: ApiClient, { urls }: Upload): Promise<'dropped' | 'kept' | 'unknown'> {
  try {
    await api.text(api.link(urls.self), { method: 'DELETE', headWithinMs: ANSWER_WITHIN_MS });
    return 'dropped';
  } catch (error) {
    if (error instanceof ServiceFailure) return 'unknown';
    if (!(error instanceof ServiceRefusal)) throw error;
    if (error.code === 'upload_incomplete') return 'kept';
    return error.facts.status === 404 ? 'dropped' : 'unknown';
  }
}

function interruptedWith(outcome: 'dropped' | 'kept' | 'unknown', { path }: FileToUpload, upload: Upload): Interrupted {
  if (outcome === 'dropped') return new Interrupted(`Interrupted; nothing of ${path} is kept.`);
  if (outcome === 'kept')
    return new Interrupted(
      `Interrupted; ${path} had arrived whole.`,
      'See `millrace assets ls`: it is about to be there.',
    );
  const message = `Interrupted; whether what was sent of ${path} is dropped is not known.`;
  return new Interrupted(message, `Nothing to do: the service drops it at ${upload.expires_at}.`);
}

function changed({ path }: FileToUpload, { facts }: ServiceRefusal): ServiceRefusal {
  return new ServiceRefusal(`${path} changed while it was sent, and nothing of it is kept.`, {
    ...facts,
    code: 'hash_mismatch',
    cure: 'Send it again once nothing writes to it.',
  });
}
