import type { Asset, ResumableUploadView } from '@millrace/contracts';
import { ApiError } from '../api-error';
import { send, sendForJson } from '../client';
import { sendBytes } from './send-bytes';
import { forgetUpload, keepUpload, unfinishedUpload } from './unfinished-uploads';
import type { UploadProgress } from './upload-progress';

/** Between attempts of which none brought the upload further. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

type Part = ResumableUploadView['parts'][number];

/** The browser may not send to where the links lead: the bucket's CORS rule does not name this page. */
export class BucketRefused extends Error {}

/**
 * Upload a file in parts. What broke off is sent again by itself; after that the same file goes on where it stopped, also after the
 * page was closed.
 *
 * @param path of the API's uploads. @param hash of the file, by which an unfinished upload is found again.
 * @throws ApiError; BucketRefused
 */
export async function uploadInParts(
  path: string,
  file: File,
  hash: string,
  onProgress: (progress: UploadProgress) => void,
): Promise<Asset> {
  const key = keyOf(file, hash);
  let upload = await openUpload(path, file, hash);
  let share = shareOf(upload, 0);
  for (let failures = 0; ;) {
    const part = upload.parts.find(({ received }) => !received);
    try {
      if (part === undefined) return await complete(upload, key);
      await sendPart(part, file, upload.part_size_bytes, (sentBytes) => {
        share = shareOf(upload, sentBytes);
        onProgress({ step: 'sending', share });
      });
      part.received = true;
      failures = 0;
    } catch (error) {
      const pauseMs = PAUSES_MS[failures];
      if (!mayPass(error)) throw error;
      if (pauseMs === undefined) throw brokenOff(share);
      failures += 1;
      onProgress({ step: 'interrupted', share });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      // Which parts arrived after all, and fresh links for the rest. While the service is away, the old ones fail again.
      const known = await readUpload(upload.urls.self);
      if (known !== null && part !== undefined && isRefusedByBucket(error, part)) throw new BucketRefused();
      upload = known ?? upload;
    }
  }
}

/** The upload that was begun for this file, or a new one. */
async function openUpload(path: string, file: File, hash: string): Promise<ResumableUploadView> {
  const key = keyOf(file, hash);
  const id = unfinishedUpload(key, localStorage);
  const known = id === null ? null : await readUpload(`${path}/${encodeURIComponent(id)}`);
  if (known !== null) return known;
  const body = { size_bytes: file.size, content_type: typeOf(file), file_path: file.name, expected_hash: hash };
  const begun = await sendForJson<ResumableUploadView>(path, { method: 'POST', body });
  keepUpload(key, begun.id, localStorage);
  return begun;
}

/** Null where it cannot be read: it is over, or the service is away. */
async function readUpload(path: string): Promise<ResumableUploadView | null> {
  try {
    return await sendForJson<ResumableUploadView>(path);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

async function sendPart(part: Part, file: File, partBytes: number, onSent: (sentBytes: number) => void): Promise<void> {
  const start = (part.number - 1) * partBytes;
  const body = file.slice(start, start + part.size_bytes);
  await sendBytes({ method: 'PUT', url: part.url ?? '', body, onSent });
}

async function complete(upload: ResumableUploadView, key: string): Promise<Asset> {
  const asset = await sendForJson<Asset>(upload.urls.complete, { method: 'POST' });
  forgetUpload(key, localStorage);
  return asset;
}

/** Drop an upload that goes on in another way. */
export async function dropUpload(path: string, file: File, hash: string): Promise<void> {
  const key = keyOf(file, hash);
  const id = unfinishedUpload(key, localStorage);
  if (id === null) return;
  forgetUpload(key, localStorage);
  await send(`${path}/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

/** No answer, a link that ended, too much at once, or a fault of the service. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 0 || error.status === 403 || error.status === 429 || error.status >= 500;
}

/** No answer from another origin, while the service itself answers. */
function isRefusedByBucket(error: unknown, { url }: Part): boolean {
  const isElsewhere = url !== null && new URL(url).origin !== window.location.origin;
  return isElsewhere && error instanceof ApiError && error.status === 0;
}

/** An upload is of these bytes under this name. */
const keyOf = ({ name }: File, hash: string): string => `${hash} ${name}`;

function shareOf({ parts, size_bytes: size }: ResumableUploadView, sentBytes: number): number {
  const received = parts.reduce((sum, part) => sum + (part.received ? part.size_bytes : 0), 0);
  return Math.min(1, (received + sentBytes) / size);
}

export const typeOf = (file: File): string => (file.type === '' ? 'application/octet-stream' : file.type);

function brokenOff(share: number): ApiError {
  const percent = Math.floor(share * 100);
  const message = `The upload broke off at ${percent} %. Choose the same file again: it goes on from there.`;
  return new ApiError(0, 'unreachable', message);
}
