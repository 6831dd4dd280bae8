import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** What is written at a time: the rest waits as it is, not as a copy of it in the buffer of a socket. */
const CHUNK_LENGTH = 65_536;

/**
 * End an answer with a short JSON text. As a text Node writes it together with the headers; Express would make bytes of it first.
 * Where each character is one byte, all are ASCII, which is written faster as Latin-1.
 */
export function endWithJson<R extends ServerResponse>(response: R, text: string): R {
  const bytes = Buffer.byteLength(text);
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('Content-Length', bytes);
  return response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

/**
 * Send texts, or their bytes, one after the other, as fast as the client takes them. What they hold is the caller's to count.
 */
export async function sendText(
  response: ServerResponse,
  contentType: string,
  texts: readonly (string | Buffer)[],
): Promise<void> {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', bytes);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    await pipeline(Readable.from(chunksOf(texts), { objectMode: true, highWaterMark: 1 }), response);
  } catch (error) {
    // A client may well stop reading; that is no failure of ours.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

function* chunksOf(texts: readonly (string | Buffer)[]): Generator<Buffer> {
  for (const text of texts) {
    for (let start = 0, end = 0; start < text.length; start = end) {
      end = Math.min(text.length, start + CHUNK_LENGTH);
      if (typeof text !== 'string') {
        yield text.subarray(start, end);
        continue;
      }
      // A pair of surrogates is one character.
      if (/[\ud800-\udbff]/.test(text.charAt(end - 1)) && end < text.length) end += 1;
      yield Buffer.from(text.slice(start, end));
    }
  }
}
