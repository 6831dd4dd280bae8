import type { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';

/** A client that sends nothing of its upload for this long is gone, or as good as: what was staged of it is let go. */
export const SILENCE_MS = 120_000;

/** What a refused client still sends is read and dropped, up to this many bytes, so that the client gets to the answer. */
const DRAIN_BYTES = 64 * 1024 * 1024;

function lateUpload(): Refusal {
  const message = 'The upload did not arrive in time: nothing of it came for two minutes.';
  return new Refusal('invalid_request', message, { status: 408, headers: { Connection: 'close' } });
}

function brokenUpload(): Refusal {
  return new Refusal('invalid_request', 'The upload broke off.', { status: 400, headers: { Connection: 'close' } });
}

/**
 * The bytes of a request as they arrive. Its connection is left open for the answer.
 *
 * @throws Refusal `invalid_request`: 408 when the rest of them does not come, 400 when the connection breaks.
 */
export async function* arrivingBytes(request: Readable): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer, void> = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const next = await unlessSilent(chunks.next().catch(() => Promise.reject(brokenUpload())));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not waited for: it would wait for the bytes of a sender that fell silent.
    chunks.return?.().catch(() => undefined);
    if (!request.readableEnded) dropRest(request);
  }
}

/** Only while bytes are waited for: a store that is slow to take them is no silence of the sender. */
async function unlessSilent<T>(bytes: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lateUpload()), SILENCE_MS);
  });
  return Promise.race([bytes, silence]).finally(() => clearTimeout(timer));
}

/** Let a client that was refused send the rest of what it sends. */
function dropRest(request: Readable): void {
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > DRAIN_BYTES) request.destroy();
  });
  request.resume();
}
