import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually, followersOf } from '@millrace/testing';
import { z } from 'zod';
import { OutOfReach } from '../attempt';
import { GatewayClient, GatewayUnreachable } from './gateway.client';
import { readFromStore } from './store-links';

const ANSWER = z.object({ jobs: z.number() });
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
  jest.useRealTimers();
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

  it.each([
    ['the gateway', () => client.download({ ...REQUEST, from: 2 })],
    ['the store', () => readFromStore(url, { from: 2 })],
  ])('of %s brings the bytes from a position on, also where all of them are sent', async (_, download) => {
    const ranges: (string | undefined)[] = [];
    respond = ({ headers }, response) => {
      ranges.push(headers.range);
      if (ranges.length === 1) response.writeHead(206).end('2345');
      else response.write('0', () => response.end('12345'));
    };
    expect(await text(await download())).toBe('2345');
    expect(await text(await download())).toBe('2345');
    expect(ranges).toEqual(['bytes=2-', 'bytes=2-']);
  });

  it.each([
    ['the gateway', () => client.download(REQUEST)],
    ['the store', () => readFromStore(url)],
  ])('of %s says that its bytes broke off, which may be tried again', async (_, download) => {
    respond = (_request, response) =>
      response.writeHead(200, { 'content-length': 2 }).write('1', () => response.destroy());
    await expect(download().then(text)).rejects.toThrow(OutOfReach);
  });

  it('brings bytes for as long as some come, and is ended where none come any more', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    let answer: ServerResponse | undefined;
    respond = (_request, response) => void (answer = response.writeHead(200)).write('0');
    const bytes = await client.download(REQUEST);
    let received = '';
    bytes.on('data', (chunk: Buffer) => (received += chunk.toString()));
    const failed = new Promise((resolve) => bytes.once('error', resolve));
    const isThere = async (count: number): Promise<void> => {
      while (received.length < count) await new Promise((resolve) => setImmediate(resolve));
    };
    for (let sent = 1; sent <= 10; sent += 1) {
      await isThere(sent);
      await jest.advanceTimersByTimeAsync(15_000);
      answer?.write('1');
    }
    await isThere(11);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(await failed).toBeInstanceOf(OutOfReach);
  });

  it('is answered for as long as some of its answer comes, and is ended where nothing comes any more', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    const arrived: ServerResponse[] = [];
    respond = (_request, response) => void arrived.push(response.writeHead(200));
    const next = async (): Promise<ServerResponse> => {
      while (arrived.length === 0) await new Promise((resolve) => setImmediate(resolve));
      return arrived.shift() as ServerResponse;
    };
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const slow = client.ask(ANSWER, REQUEST);
    const limit = timers.mock.results.at(-1)?.value as NodeJS.Timeout;
    timers.mockRestore();
    const pieces = jest.spyOn(limit, 'refresh');
    const response = await next();
    for (const [before, piece] of [...'{"jobs":1}'].entries()) {
      response.write(piece);
      while (pieces.mock.calls.length === before) await new Promise((resolve) => setImmediate(resolve));
      await jest.advanceTimersByTimeAsync(7_000);
    }
    response.end();
    expect(await slow).toEqual({ jobs: 1 });
    const broken = expect(client.ask(ANSWER, REQUEST)).rejects.toThrow(GatewayUnreachable);
    (await next()).write('{');
    await jest.advanceTimersByTimeAsync(16_000);
    await broken;
  });

  it('has time for its body: more for a long one', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    respond = (request) => void request.resume();
    let isOver = false;
    const body = { text: 'x'.repeat(1024 * 1024) };
    const asked = client.ask(ANSWER, { method: 'POST', path: 'a', body }).catch((error: unknown) => {
      isOver = true;
      return error;
    });
    await jest.advanceTimersByTimeAsync(15_000);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await asked).toBeInstanceOf(GatewayUnreachable);
  });
});
