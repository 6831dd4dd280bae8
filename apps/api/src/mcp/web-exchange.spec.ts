import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { sendWebResponse } from './web-exchange';

/** The body that a client gets of an answer of the SDK. */
async function sent(answer: Response): Promise<string> {
  const app = express();
  const served = new Promise<void>((resolve, reject) => {
    app.get('/', (_request, response) => void sendWebResponse(response, answer).then(resolve, reject));
  });
  const server = createServer(app as RequestListener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const body = await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  await served;
  server.close();
  return body;
}

/** An answer in pieces of so many bytes: a character may lie in two of them. */
function inPieces(body: string, type: string, size: number): Response {
  const bytes = new TextEncoder().encode(body);
  const pieces = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  return new Response(pieces, { headers: { 'content-type': type } });
}

describe('an answer of the SDK', () => {
  it.each([1, 2, 1_000])(
    'that is a stream has no line breaks in its data, sent in pieces of %d bytes',
    async (size) => {
      const data = JSON.stringify({ text: 'a\u0085b\u2028c\u2029d 語 😀' });
      const body = await sent(inPieces(`event: message\ndata: ${data}\n\n`, 'text/event-stream', size));
      expect(body).toBe('event: message\ndata: {"text":"a\\u0085b\\u2028c\\u2029d 語 😀"}\n\n');
    },
  );

  it('of another type is sent as it is', async () => {
    expect(await sent(inPieces('{"text":"a\u2028b"}', 'application/json', 1_000))).toBe('{"text":"a\u2028b"}');
  });
});
