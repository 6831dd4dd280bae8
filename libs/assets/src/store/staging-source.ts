import { addAbortSignal, type Readable } from 'node:stream';

/**
 * Take charge of a stream that is about to be staged. From now on its failing before anyone reads it is no uncaught error:
 * whoever reads it next gets the error. Aborting `signal` destroys it.
 */
export function takeSource(source: Readable, signal?: AbortSignal): AsyncIterable<Buffer> {
  source.on('error', () => undefined);
  if (signal !== undefined) addAbortSignal(signal, source);
  return source as AsyncIterable<Buffer>;
}
