import { Readable } from 'node:stream';
import { z } from 'zod';
import { type Host, ServiceFailure, ServiceRefusal, wasNotSent } from '../process';
import type { ApiClient } from './api.client';
import { bytesOf } from './local-file';
import type { UploadWatcher } from './upload';

/** Between tries of which none brought a part further: five minutes in all, the length of an outage that is bridged. */
const PAUSES_MS = [1, 2, 4, 8, 15, 30, 60, 60, 60, 60].map((seconds) => seconds * 1_000);
/** A link that was refused may have expired. With fresh ones it is refused for another reason. */
const REFUSED_TRIES = 3;
const MAX_RETRY_AFTER_SECONDS = 60;
const OUTAGE_MS = 300_000;
/** The service reads all of a file before it answers that it is complete, which may take longer than a connection stays open. */
export const COMPLETE_WITHIN_MS = 3_600_000;
const COMPLETE_AGAIN_MS = 5_000;

const PartView = z.object({ number: z.int(), size_bytes: z.int(), received: z.boolean(), url: z.string().nullable() });
/** An open upload, as far as its parts are sent by it. */
export const UploadPartsView = z.looseObject({
  expected_hash: z.string().nullable().optional(),
  part_size_bytes: z.int(),
  parts: z.array(PartView),
});
export type UploadParts = z.output<typeof UploadPartsView>;
type Part = UploadParts['parts'][number];

/** A file that is sent in parts. */
export interface PartsSource {
  path: string;
  sizeBytes: number;
  /** Its upload, as it was begun or found. */
  upload: UploadParts;
  /** Reads the upload again: which parts have arrived, and fresh links for the rest. */
  read: () => Promise<UploadParts>;
  watcher?: UploadWatcher | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Send the parts of a file that have not arrived, one after the other. Where the connection breaks, the upload is read again and goes on
 * with what is missing. Memory use grows neither with the file nor with its parts.
 *
 * @throws {ServiceFailure} after five minutes in which no part arrived, {ServiceRefusal} where fresh links do not help, {Interrupted}, and
 * {UsageFailure} when the file cannot be read any more.
 */
export async function sendParts(api: ApiClient, host: Pick<Host, 'wait'>, source: PartsSource): Promise<void> {
  const { watcher, signal } = source;
  let { upload } = source;
  for (let failures = 0, refusals = 0, isStale = false; ;) {
    try {
      if (isStale) upload = await source.read();
      isStale = false;
      const part = upload.parts.find(({ received }) => !received);
      if (part === undefined) return;
      await sendPart(api, source, upload, part);
      part.received = true;
      failures = refusals = 0;
    } catch (error) {
      const isRefusal = error instanceof ServiceRefusal && error.facts.status !== 429;
      const pauseMs = PAUSES_MS[failures];
      if (isRefusal && (isStale || (refusals += 1) === REFUSED_TRIES)) throw error;
      if (!(error instanceof ServiceFailure || error instanceof ServiceRefusal) || pauseMs === undefined) throw error;
      failures += 1;
      isStale = true;
      watcher?.interrupted(error.message);
      await host.wait(Math.max(pauseMs, retryAfterMs(error)), signal);
    }
  }
}

async function sendPart(
  api: ApiClient,
  { path, sizeBytes, watcher, signal }: PartsSource,
  { parts, part_size_bytes: partBytes }: UploadParts,
  { number, size_bytes: size, url }: Part,
): Promise<void> {
  if (url === null) throw new ServiceFailure(`The service did not say where to send part ${number} of the upload.`);
  const arrived = parts.reduce((sum, part) => sum + (part.received ? part.size_bytes : 0), 0);
  const piece = { path, start: (number - 1) * partBytes, sizeBytes: size };
  const stream = {
    headers: { 'content-length': String(size), 'content-type': 'application/octet-stream' },
    open: () =>
      Readable.from(
        bytesOf(piece, (read) => watcher?.moved('sending', arrived + read, sizeBytes)),
        { objectMode: false },
      ),
  };
  await api.text(api.link(url), { method: 'PUT', stream, signal });
}

/**
 * Ask for the completion of an upload until its outcome is known. Where an answer is lost, the service goes on joining the parts, and
 * then answers with what came of it.
 *
 * @throws what `complete` throws where asking again does not help, or has not helped for five minutes from the first failure on, an hour once it is under way.
 */
export async function untilComplete<T>(
  host: Pick<Host, 'nowMs' | 'wait'>,
  complete: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  // Before that the machine may have slept.
  let failedAtMs: number | null = null;
  for (let isUnderWay = false; ;) {
    try {
      return await complete();
    } catch (error) {
      isUnderWay ||= error instanceof ServiceFailure && !wasNotSent(error);
      const isBusy = error instanceof ServiceRefusal && error.code === 'upload_incomplete' && !error.facts.details;
      const waitMs = Math.max(COMPLETE_AGAIN_MS, retryAfterMs(error));
      const mayPass = error instanceof ServiceFailure || (isBusy && isUnderWay) || retryAfterMs(error) > 0;
      const withinMs = isUnderWay ? COMPLETE_WITHIN_MS : OUTAGE_MS;
      failedAtMs ??= host.nowMs();
      if (!mayPass || host.nowMs() + waitMs > failedAtMs + withinMs) throw error;
      await host.wait(waitMs, signal);
    }
  }
}

/** Milliseconds that a 429 asks to wait; 0 where it is too long to wait for, and for every other error. */
function retryAfterMs(error: unknown): number {
  const seconds = error instanceof ServiceRefusal ? (error.facts.retryAfterSeconds ?? 0) : 0;
  return seconds <= MAX_RETRY_AFTER_SECONDS ? seconds * 1_000 : 0;
}
