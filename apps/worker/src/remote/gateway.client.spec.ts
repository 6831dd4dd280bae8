import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { collectGarbage, eventually, followersOf } from '@millrace/testing';
import { z } from 'zod';
import { GatewayClient, GatewayUnreachable, readFromStore } from './gateway.client';

const ANSWER = z.object({ jobs: z.number() });
const timeout = AbortSignal.timeout.bind(AbortSignal);
const REQUEST = { method: 'GET', path: 'a' } as const;

let server: Server;
let url: string;
let client: GatewayClient;
let respond: RequestListener;
/** Lives as long as the worker. */
let leaving: AbortController;
beforeEach(async () => {
  leaving = new AbortController();
  server = createServer((request, response) => respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new GatewayClient(url, 'token');
});
afterEach(async () => {
  AbortSignal.timeout = timeout;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Answers with the first byte of two. */
const half: RequestListener = (_request, response) => void response.writeHead(200, { 'content-length': 2 }).write('1');

describe('a request to the gateway', () => {
  it.each([
    ['was answered', () => client.ask(ANSWER, { ...REQUEST, signal: leaving.signal })],
    ['brought bytes', async () => text(await client.download({ ...REQUEST, signal: leaving.signal }))],
    ['brought bytes of the store', async () => text(await readFromStore(url, { signal: leaving.signal }))],
    [
      'brought bytes that nobody reads',
      async () => void (await client.download({ ...REQUEST, signal: leaving.signal })).destroy(),
    ],
  ])('that %s leaves nothing on the signal by which it could have been ended', async (_, ask) => {
    respond = (_request, response) => response.end('{"jobs":1}');
    await ask();
    await eventually('nothing to be left', () => followersOf(leaving.signal) === 0);
  });

  it('that failed leaves nothing on that signal either', async () => {
    respond = (_request, response) => response.writeHead(503).end();
    await expect(client.ask(ANSWER, { ...REQUEST, signal: leaving.signal })).rejects.toThrow(GatewayUnreachable);
    await expect(client.download({ ...REQUEST, signal: leaving.signal })).rejects.toThrow(GatewayUnreachable);
    await expect(readFromStore(url, { signal: leaving.signal })).rejects.toThrow('status 503');
    expect(followersOf(leaving.signal)).toBe(0);
  });

  it.each([200, 503])('is not read beyond its bound, however it is answered: %i', async (status) => {
    const piece = Buffer.alloc(1024 * 1024, ' ');
    const gone = new Promise<void>((resolve) => {
      respond = (_request, response) => {
        response.writeHead(status).once('close', resolve);
        const go = (): void => {
          while (!response.destroyed && response.write(piece));
          response.once('drain', go);
        };
        go();
      };
    });
    await expect(client.ask(ANSWER, REQUEST)).rejects.toThrow('more than 256 MiB');
    await gone;
  });

  it('is ended by its signal before the answer, and while its bytes come', async () => {
    respond = half;
    const bytes = text(await client.download({ ...REQUEST, signal: leaving.signal }));
    const ended = Promise.all([
      expect(client.ask(ANSWER, { ...REQUEST, signal: leaving.signal })).rejects.toThrow(GatewayUnreachable),
      expect(bytes).rejects.toThrow(),
    ]);
    leaving.abort();
    await ended;
  });

  it('is ended by its time limit, also where everything else is collected meanwhile', async () => {
    // No spy: it would keep the limit.
    AbortSignal.timeout = () => timeout(300);
    respond = half;
    const asked = expect(client.ask(ANSWER, { ...REQUEST, signal: leaving.signal })).rejects.toThrow(
      GatewayUnreachable,
    );
    await collectGarbage();
    await asked;
  });
});
