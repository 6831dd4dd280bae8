// The floor of P12, in a process of its own: a bare node:http server that refuses what it is sent.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseJson } from '../../scripts/lib/system/index.mjs';

/** As long as the service's own refusals. */
const REFUSAL = JSON.stringify({ error: { code: 'refused', message: 'x'.repeat(200) } });
const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(REFUSAL) };

/** What a server must do at least before it can refuse, by the status it answers. @type {Record<string, (request: import('node:http').IncomingMessage) => Promise<unknown>>} */
const WORK = {
  401: async (request) => request.resume(),
  422: async (request) => parseJson(await text(request)),
};

/** @returns {Promise<string>} its origin; the last part of a request's path is the status that it answers */
export async function listen() {
  const server = createServer((request, response) => {
    const status = request.url?.split('/').at(-1) ?? '';
    const work = WORK[status]?.(request) ?? Promise.reject(new Error(`no refusal is known for ${request.url}`));
    work.then(
      () => response.writeHead(Number(status), HEADERS).end(REFUSAL),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}`;
}
