import type { Readable } from 'node:stream';

/** More than any client sends that would read its answer afterwards. */
const DROPPED_BYTES = 64 * 1024 * 1024;
const DROP_MS = 60_000;
/** As much is read at a time, and then nothing for a while: 4 MiB a second of each connection. */
const BURST_BYTES = 131_072;
const PAUSE_MS = 31;
const dropping = new WeakSet<Readable>();

/**
 * Read and drop what a refused client still sends, up to a size and a time. Many clients read no answer before they have sent
 * all of their body, and cutting the connection loses the answer. It is read slowly: a client that sends one large body after the
 * other only to have them refused is slowed down, and not the process.
 */
export function dropRest(request: Readable): void {
  if (request.readableEnded || request.destroyed || dropping.has(request)) return;
  dropping.add(request);
  let [dropped, burst] = [0, 0];
  let pause: NodeJS.Timeout | undefined;
  const timeout = setTimeout(() => request.destroy(), DROP_MS).unref();
  const end = (): void => [timeout, pause].forEach(clearTimeout);
  request.once('end', end).once('close', end);
  // Nobody waits for the rest any more: that the connection broke is no failure.
  request.on('error', end);
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    burst += chunk.length;
    if (dropped > DROPPED_BYTES) request.destroy();
    else if (burst >= BURST_BYTES) {
      burst = 0;
      request.pause();
      pause = setTimeout(() => request.resume(), PAUSE_MS).unref();
    }
  });
  request.resume();
}
