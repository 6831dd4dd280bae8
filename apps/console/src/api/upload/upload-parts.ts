import type { ResumableUploadView } from '@millrace/contracts';
import { ApiError } from '../api-error';
import { sendBytes } from './send-bytes';
import type { UploadProgress } from './upload-progress';

/** Between attempts of which none brought the upload further. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

type Part = ResumableUploadView['parts'][number];

/** The browser may not send to where the links lead: the bucket's CORS rule does not name this page. */
export class BucketRefused extends Error {}

/** What a file in parts becomes. */
export interface PartsTarget<T> {
  /** Begin the upload, or find the one of this file that broke off. */
  open: () => Promise<ResumableUploadView>;
  /** Which parts have arrived, and fresh links. Null where it cannot be read: it is over, or the service is away. */
  read: (upload: ResumableUploadView) => Promise<ResumableUploadView | null>;
  complete: (upload: ResumableUploadView) => Promise<T>;
}

/**
 * Upload a file in parts. What broke off is sent again by itself; after that the same file goes on where it stopped, also after the
 * page was closed.
 *
 * @throws ApiError; BucketRefused
 */
export async function uploadInParts<T>(
  target: PartsTarget<T>,
  file: File,
  onProgress: (progress: UploadProgress) => void,
): Promise<T> {
  let upload = await target.open();
  let share = shareOf(upload, 0);
  for (let failures = 0; ;) {
    const part = upload.parts.find(({ received }) => !received);
    try {
      if (part === undefined) return await target.complete(upload);
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
      const known = await target.read(upload);
      if (known !== null && part !== undefined && failures > 1 && isRefusedByBucket(error, part, known)) {
        throw new BucketRefused();
      }
      upload = known ?? upload;
    }
  }
}

async function sendPart(part: Part, file: File, partBytes: number, onSent: (sentBytes: number) => void): Promise<void> {
  const start = (part.number - 1) * partBytes;
  const body = file.slice(start, start + part.size_bytes);
  await sendBytes({ method: 'PUT', url: part.url ?? '', body, onSent });
}

/** Null where nothing can be read: it is gone, or the service is away. */
export async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** No answer, a link that ended, too much at once, or a fault of the service. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 0 || error.status === 403 || error.status === 429 || error.status >= 500;
}

/** No answer from another origin, while the service itself answers. Where a part has arrived, the connection broke: a bucket refuses all. */
function isRefusedByBucket(error: unknown, { url }: Part, { parts }: ResumableUploadView): boolean {
  if (parts.some(({ received }) => received)) return false;
  const isElsewhere = url !== null && new URL(url).origin !== window.location.origin;
  return isElsewhere && error instanceof ApiError && error.status === 0;
}

function shareOf({ parts, size_bytes: size }: ResumableUploadView, sentBytes: number): number {
  const received = parts.reduce((sum, part) => sum + (part.received ? part.size_bytes : 0), 0);
  return Math.min(1, (received + sentBytes) / size);
}

function brokenOff(share: number): ApiError {
  const percent = Math.floor(share * 100);
  const message = `The upload broke off at ${percent} %. Choose the same file again: it goes on from there.`;
  return new ApiError(0, 'unreachable', message);
}
