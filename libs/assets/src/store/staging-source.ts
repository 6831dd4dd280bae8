import { addAbortSignal, type Readable } from 'node:stream';

/**
 * Take a stream over that is about to be staged. If it fails before it is read, the error goes to the next reader instead of
 * ending the process. Aborting `signal` destroys it.
 */
export function takeSource(source: Readable, signal?: AbortSignal): AsyncIterable<Buffer> {
  source.on('error', () => undefined);
  if (signal !== undefined) addAbortSignal(signal, source);
  return source as AsyncIterable<Buffer>;
}
