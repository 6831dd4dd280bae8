// The floor of P11, in a process of its own: a bare node:http server that stores what it is sent, as durably, unread.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';

const delay = monitorEventLoopDelay();

/**
 * @param {{ folder: string }} input where it stores
 * @returns {Promise<{ pid: number, url: string }>}
 */
export async function listen({ folder }) {
  await mkdir(folder, { recursive: true });
  const server = createServer((request, response) => {
    store(request, folder).then(
      () => response.writeHead(201).end(),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  delay.enable();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { pid: process.pid, url: `http://127.0.0.1:${port}/` };
}

/**
 * Whole or not at all, and on disk before the answer: the file is synced, takes its name, and its folder is synced.
 *
 * @param {import('node:http').IncomingMessage} request
 * @param {string} folder
 */
async function store(request, folder) {
  const name = join(folder, randomUUID());
  await pipeline(request, createWriteStream(`${name}.part`, { flush: true }));
  await rename(`${name}.part`, name);
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** The event loop's delay since the last call, 99th percentile in milliseconds, measured as in the service's metrics. */
export function loopDelayMs() {
  const p99 = delay.percentile(99) / 1e6;
  delay.reset();
  return p99;
}
