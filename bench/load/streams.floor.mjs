// The floor of P6, in a process of its own: event streams as node:http alone has them, and a loop that writes to them.
import { createServer } from 'node:http';
import process from 'node:process';
import { text } from 'node:stream/consumers';

/** As the service's streams. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** @type {import('node:http').ServerResponse[]} */
const streams = [];

/**
 * @param {{ firstFrame: string }} input the frame that every stream begins with
 * @returns {Promise<{ pid: number, port: number }>}
 */
export async function listen({ firstFrame }) {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const number = (/** @type {string} */ name) => Number(searchParams.get(name));
    if (pathname === '/write') void write(request, response, number('from'), number('to'));
    else begin(response, number('stream'), firstFrame);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { pid: process.pid, port };
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} place
 * @param {string} firstFrame
 */
function begin(response, place, firstFrame) {
  response.writeHead(200, HEADERS);
  response.socket?.setNoDelay(true);
  response.flushHeaders();
  response.write(firstFrame);
  streams[place] = response;
}

/**
 * Write the body of the request to streams `from` to `to`.
 *
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {number} from
 * @param {number} to
 */
async function write(request, response, from, to) {
  const frame = await text(request);
  for (let place = from; place < to; place += 1) streams[place]?.write(frame);
  response.end();
}
