import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { StreamedBody } from './multipart-body';

/** A connection without a byte in either direction for this long counts as dead. */
const IDLE_MS = 300_000;

export interface StreamedRequest {
  method: string;
  headers: Record<string, string>;
  body: StreamedBody;
  signal?: AbortSignal;
}

/**
 * Sends a body as the connection takes it. Not by `fetch`, which reads a body of any size into memory (measured on Node
 * 20: 680 MB for a file of 600 MB; this way 75 MB). An answer that comes before the body is sent ends the sending.
 */
export function streamedRequest(url: URL, { method, headers, body, signal }: StreamedRequest): Promise<Response> {
  const send = url.protocol === 'https:' ? secureRequest : plainRequest;
  const request = send(url, { method, headers: { ...headers, ...body.headers }, signal });
  const source = body.open();
  return new Promise<Response>((resolve, reject) => {
    request.setTimeout(IDLE_MS, () => request.destroy(new Error('it did not answer in time')));
    request.on('error', reject);
    request.on('response', (response) => {
      source.unpipe(request);
      responseOf(response).then(resolve, reject);
    });
    source.on('error', (error) => request.destroy(error));
    source.pipe(request);
  }).finally(() => {
    source.destroy();
    // An answer may come before all was sent; then the connection cannot be used again.
    if (!request.writableFinished) request.destroy();
  });
}

async function responseOf(message: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers = Object.entries(message.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const status = message.statusCode ?? 500;
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers, statusText: message.statusMessage });
}
