import type { Readable } from 'node:stream';
import { arrivedPiecesOf } from './gathering-message';

/** More than any client sends that would read its answer afterwards. */
const DROPPED_BYTES = 64 * 1024 * 1024;
const DROP_MS = 60_000;
/** As much is read at a time, and then nothing for a while: 4 MiB a second of each connection. */
const BURST_BYTES = 131_072;
const PAUSE_MS = 31;
/** What a piece takes of both at least: a byte in an HTTP chunk of its own takes the processor about as long as 1 KiB does. */
const PIECE_BYTES = 1_024;
/** After so many pieces of so few bytes each on average, the connection ends: nobody sends a body so who would read an answer. */
const MOST_TINY_PIECES = 4_096;
const TINY_BYTES = 16;
const dropping = new WeakSet<Readable>();

/**
 * Read and drop what a refused client still sends, up to a size and a time. Many clients read no answer before they have sent
 * all of their body, and cutting the connection loses the answer. It is read slowly: a client that sends one large body after the
 * other only to have them refused is slowed down, and not the process. Its HTTP chunks count as 1 KiB each at least.
 */
export function dropRest(request: Readable): void {
  if (request.readableEnded || request.destroyed || dropping.has(request)) return;
  dropping.add(request);
  let [bytes, pieces, dropped, burst] = [0, 0, 0, 0];
  let before = arrivedPiecesOf(request) ?? 0;
  let pause: NodeJS.Timeout | undefined;
  const timeout = setTimeout(() => request.destroy(), DROP_MS).unref();
  const end = (): void => [timeout, pause].forEach(clearTimeout);
  request.once('end', end).once('close', end);
  // Nobody waits for the rest any more: that the connection broke is no failure.
  request.on('error', end);
  request.on('data', (chunk: Buffer) => {
    const arrived = arrivedPiecesOf(request) ?? before + 1;
    const cost = Math.max(chunk.length, (arrived - before) * PIECE_BYTES);
    bytes += chunk.length;
    pieces += arrived - before;
    before = arrived;
    dropped += cost;
    burst += cost;
    const isTiny = pieces > MOST_TINY_PIECES && bytes < pieces * TINY_BYTES;
    if (dropped > DROPPED_BYTES || isTiny) request.destroy();
    else if (burst >= BURST_BYTES) {
      request.pause();
      pause = setTimeout(() => request.resume(), PAUSE_MS * Math.floor(burst / BURST_BYTES)).unref();
      burst %= BURST_BYTES;
    }
  });
  request.resume();
}
