import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { whenClosed } from '@millrace/platform';
import { withoutLineBreaks } from '../streams';

/** What the protocol reads of a request. Credentials and cookies stay outside. */
const PASSED_ON = /^(accept|content-type|mcp-.*)$/;

/** Ends when the client is gone, or has its answer. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  whenClosed(response, () => gone.abort());
  // A client that disconnected while it was being identified closed before the listener was there.
  if (response.destroyed) gone.abort();
  return gone.signal;
}

/** A request as the SDK takes one. Its body has been read. */
export function webRequestOf(request: Request, url: string, signal: AbortSignal): globalThis.Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string' && PASSED_ON.test(name)) headers.set(name, value);
  }
  return new globalThis.Request(url, { method: request.method, headers, signal });
}

/** Send what the SDK answers, as fast as the client takes it. */
export async function sendWebResponse(response: Response, answer: globalThis.Response): Promise<void> {
  response.status(answer.status);
  for (const [name, value] of answer.headers) if (name !== 'connection') response.setHeader(name, value);
  if (answer.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  try {
    const body = Readable.fromWeb(answer.body);
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    await (isStream ? pipeline(body.setEncoding('utf8'), eachWithoutLineBreaks, response) : pipeline(body, response));
  } catch (error) {
    // A client that leaves ends its answer; that is no failure.
    if (!response.destroyed) throw error;
  }
}

/** The SDK writes frames as plain JSON. */
async function* eachWithoutLineBreaks(pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  for await (const piece of pieces) yield withoutLineBreaks(piece);
}
