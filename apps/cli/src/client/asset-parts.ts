import { z } from 'zod';
import { CliFailure, type Host, Interrupted, ServiceRedirect, ServiceRefusal, wasNotSent } from '../process';
import type { ApiClient } from './api.client';
import { COMPLETE_WITHIN_MS, sendParts, untilComplete, UploadPartsView } from './parts-upload';
import type { FileToUpload, UploadOptions } from './upload';
import { type AssetRecord, AssetView, readAs } from './wire';

/** How a service that has no uploads in parts answers to the beginning of one. */
export const TAKES_NO_PARTS: readonly string[] = ['not_found', 'http_404', 'http_405'];
const BEGIN_TRIES = 3;
/** Ctrl-C waits for the answers to these: they say what is to be dropped, and whether it was. */
const ANSWER_WITHIN_MS = 15_000;

const UploadView = UploadPartsView.extend({
  expires_at: z.string(),
  urls: z.looseObject({ self: z.string(), complete: z.string() }),
});
type Upload = z.output<typeof UploadView>;

/**
 * Send a file to the upload that was begun for it, and have the asset made. What ends it before drops the upload at the service.
 *
 * @throws {ServiceRefusal} as `sendParts` and `untilComplete`.
 */
export async function sendInParts(
  api: ApiClient,
  host: Host,
  file: FileToUpload,
  begun: Upload,
  options: UploadOptions,
): Promise<AssetRecord> {
  const { signal, watcher } = options;
  // From then on the asset may be there although its upload is dropped.
  let mayBeComplete = false;
  const complete = async (): Promise<unknown> => {
    try {
      return await api.json(api.link(begun.urls.complete), {
        method: 'POST',
        headWithinMs: COMPLETE_WITHIN_MS,
        isRepeatable: true,
        signal,
      });
    } catch (error) {
      const isKnown = error instanceof ServiceRefusal || error instanceof ServiceRedirect || wasNotSent(error);
      mayBeComplete ||= !isKnown;
      throw error;
    }
  };
  try {
    if (signal?.aborted) throw new Interrupted('Interrupted.');
    const self = api.link(begun.urls.self);
    const read = async (): Promise<Upload> => readAs(UploadView, await api.json(self, { signal }), 'upload');
    await sendParts(api, host, { ...file, upload: begun, read, watcher, signal });
    return readAs(AssetView, await untilComplete(host, complete, signal), 'asset');
  } catch (error) {
    const outcome = await drop(api, begun);
    if (signal?.aborted)
      throw interruptedWith(mayBeComplete && outcome !== 'kept' ? 'perhaps_kept' : outcome, file, begun);
    throw error instanceof ServiceRefusal ? refusedWith(error, file) : error;
  }
}

/**
 * Begin an upload in parts. One whose answer is lost is dropped by the service when it expires.
 *
 * @throws {ServiceRefusal} with one of `TAKES_NO_PARTS` where the service has no such uploads; `rate_limited` where too many are open.
 */
export async function beginInParts(
  api: ApiClient,
  file: FileToUpload,
  { tags, expiresInSeconds, signal }: UploadOptions,
): Promise<Upload> {
  if (signal?.aborted) throw new Interrupted('Interrupted.');
  const json = {
    size_bytes: file.sizeBytes,
    content_type: file.contentType,
    file_path: file.fileName,
    expected_hash: file.hash,
    ...(tags && { tags }),
    ...(expiresInSeconds !== undefined && { expires_in: expiresInSeconds }),
  };
  const options = {
    method: 'POST',
    json,
    isGuarded: true,
    tries: BEGIN_TRIES,
    headWithinMs: ANSWER_WITHIN_MS,
  } as const;
  try {
    return readAs(UploadView, await api.json(api.api('/uploads'), options), 'upload');
  } catch (error) {
    const endsAt = error instanceof ServiceRefusal ? error.facts.details?.next_ends_at : undefined;
    if (error instanceof ServiceRefusal && typeof endsAt === 'string') error.facts.cure = tooManyOpenCure(endsAt);
    throw error;
  }
}

/** No list shows the uploads that are open: only what began one knows its id. */
function tooManyOpenCure(endsAt: string): string {
  return `Wait: the next of them ends by itself at ${endsAt}. Or end one whose id you know: DELETE /api/v2/uploads/<its id>.`;
}

type Outcome = 'dropped' | 'kept' | 'unknown';

/** @returns `kept` where the service is completing it: then its asset stays. */
async function drop(api: ApiClient, { urls }: Upload): Promise<Outcome> {
  try {
    await api.text(api.link(urls.self), { method: 'DELETE', isGuarded: true, headWithinMs: ANSWER_WITHIN_MS });
    return 'dropped';
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    if (!(error instanceof ServiceRefusal)) return 'unknown';
    if (error.code === 'upload_incomplete') return 'kept';
    return error.facts.status === 404 ? 'dropped' : 'unknown';
  }
}

function interruptedWith(outcome: Outcome | 'perhaps_kept', { path }: FileToUpload, upload: Upload): Interrupted {
  if (outcome === 'dropped') return new Interrupted(`Interrupted; nothing of ${path} is kept.`);
  if (outcome === 'kept')
    return new Interrupted(
      `Interrupted; ${path} had arrived whole.`,
      'See `millrace assets ls`: it is about to be there.',
    );
  if (outcome === 'perhaps_kept')
    return new Interrupted(
      `Interrupted; ${path} had arrived whole, and whether its asset was made is not known.`,
      'See `millrace assets ls`: send the file again if it is not there.',
    );
  const message = `Interrupted; whether what was sent of ${path} is dropped is not known.`;
  return new Interrupted(message, `Nothing to do: the service drops it at ${upload.expires_at}.`);
}

function refusedWith(error: ServiceRefusal, { path }: FileToUpload): ServiceRefusal {
  const { facts } = error;
  if (facts.status === 404)
    return new ServiceRefusal(`The upload of ${path} is gone: it expired, or was ended by somebody else.`, {
      ...facts,
      code: error.code,
      cure: 'Send the file again.',
    });
  if (error.code !== 'hash_mismatch') return error;
  return new ServiceRefusal(`${path} changed while it was sent, and nothing of it is kept.`, {
    ...facts,
    code: 'hash_mismatch',
    cure: 'Send it again once nothing writes to it.',
  });
}
