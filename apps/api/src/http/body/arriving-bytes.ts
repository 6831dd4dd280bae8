import type { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';
import { assertFewPieces, dropRest } from '@millrace/platform';

/** A client that sends nothing of its upload for this long is gone, or as good as: what was staged of it is let go. */
export const SILENCE_MS = 120_000;

/** Beyond this time, a sender that was waited for longer than its bytes take at the least rate is too slow. */
const GRACE_MS = 600_000;
/** 1 KiB a second, which every line does: a connection is not to be held for hours by a byte now and then. */
const LEAST_BYTES_PER_MS = 1.024;

function lateUpload(): Refusal {
  const message = 'The upload did not arrive in time: nothing of it came for two minutes, or less than 1 KiB a second.';
  return new Refusal('invalid_request', message, { status: 408, headers: { Connection: 'close' } });
}

function brokenUpload(): Refusal {
  return new Refusal('invalid_request', 'The upload broke off.', { status: 400, headers: { Connection: 'close' } });
}

function largeUpload(maxBytes: number): Refusal {
  return new Refusal('payload_too_large', `The body is larger than ${maxBytes} bytes, which is the limit.`);
}

/**
 * The bytes of a request as they arrive. Its connection is left open for the answer.
 *
 * @param maxBytes of the whole body.
 * @throws Refusal `invalid_request`: 408 when the rest of them does not come, or too slowly, 400 when the connection breaks, or they come in
 * tiny HTTP chunks;
 * `payload_too_large`.
 */
export async function* arrivingBytes(request: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer, void> = request.iterator({ destroyOnReturn: false });
  let bytes = 0;
  let waitedMs = 0;
  let late = false;
  try {
    for (;;) {
      const since = performance.now();
      const coming = chunks.next().catch(() => Promise.reject(brokenUpload()));
      const next = await within(Math.min(SILENCE_MS, GRACE_MS + bytes / LEAST_BYTES_PER_MS - waitedMs), coming);
      late = next === null;
      if (next === null) throw lateUpload();
      if (next.done === true) return;
      waitedMs += performance.now() - since;
      bytes += next.value.length;
      if (bytes > maxBytes) throw largeUpload(maxBytes);
      assertFewPieces(request);
      yield next.value;
    }
  } finally {
    // Not waited for: it would wait for the bytes of a sender that fell silent.
    chunks.return?.().catch(() => undefined);
    // Of a sender that is too slow nothing is waited for: its connection ends with the answer.
    if (!late) dropRest(request);
  }
}

/**
 * Null when they do not come in time. Only while bytes are waited for: a store that is slow to take them is no silence of the
 * sender.
 */
async function within<T>(ms: number, bytes: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), Math.max(0, ms));
  });
  return Promise.race([bytes, late]).finally(() => clearTimeout(timer));
}
