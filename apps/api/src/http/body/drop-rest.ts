import type { Readable } from 'node:stream';

/** More than any client sends that would read its answer afterwards. */
const DROPPED_BYTES = 64 * 1024 * 1024;
const DROP_MS = 60_000;
const dropping = new WeakSet<Readable>();

/**
 * Read and drop what a refused client still sends, up to a size and a time. Many clients read no answer before they have sent
 * all of their body, and cutting the connection loses the answer.
 */
export function dropRest(request: Readable): void {
  if (request.readableEnded || request.destroyed || dropping.has(request)) return;
  dropping.add(request);
  let dropped = 0;
  const timeout = setTimeout(() => request.destroy(), DROP_MS).unref();
  const end = (): void => clearTimeout(timeout);
  request.once('end', end).once('close', end);
  // Nobody waits for the rest any more: that the connection broke is no failure.
  request.on('error', end);
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > DROPPED_BYTES) request.destroy();
  });
  request.resume();
}
