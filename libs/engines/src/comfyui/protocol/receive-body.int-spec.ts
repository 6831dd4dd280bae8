import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { scratchDir } from '../../../conformance/run-workflow';
import { ComfyuiClient } from './comfyui.client';
import type { Fetched } from './server-file';

const staying = new AbortController().signal;

describe('a file that the server sends', () => {
  let server: Server;
  let client: ComfyuiClient;
  let send: RequestListener;
  let path: string;
  let paths: number;

  beforeAll(async () => {
    server = createServer((request, response) => send(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = new ComfyuiClient({ url, headers: {}, timeoutMs: 60_000 });
  });

  afterAll(async () => {
    client.close();
    await new Promise((closed) => server.close(closed));
  });

  beforeEach(() => {
    path = join(scratchDir(), 'new');
    paths = 0;
  });

  function download(signal = staying): Promise<Fetched | null> {
    const newPath = (): Promise<string> => Promise.resolve((paths += 1)).then(() => path);
    return client.download({ type: 'output', path: 'a.png' }, { newPath, maxHeldBytes: 4 }, signal);
  }

  it('is held in memory where it says that it is small enough', async () => {
    send = (_request, response) => response.writeHead(200, { 'content-length': 4 }).end('four');
    expect(await download()).toEqual(Buffer.from('four'));
    expect(paths).toBe(0);
  });

  it.each([
    ['is larger', { 'content-length': 5 }],
    ['does not say how large it is', {}],
  ])('is a new file where it %s', async (_, headers) => {
    send = (_request, response) => response.writeHead(200, headers).end('fives');
    expect(await download()).toBe(path);
    expect(readFileSync(path, 'utf8')).toBe('fives');
  });

  it.each([4, 9])('that ends before its %i bytes have come is none', async (length) => {
    send = (_request, response) => {
      response.writeHead(200, { 'content-length': length }).write('one');
      response.socket?.end();
    };
    await expect(download()).rejects.toThrow('ComfyUI does not answer');
  });

  it('is asked for again where a connection that lay idle is gone', async () => {
    send = (_request, response) => response.writeHead(200, { 'content-length': 4 }).end('four');
    await download();
    let asked = 0;
    send = (request, response) => {
      asked += 1;
      if (asked === 1) request.socket.destroy();
      else response.writeHead(200, { 'content-length': 4 }).end('more');
    };
    expect(await download()).toEqual(Buffer.from('more'));
    expect(asked).toBe(2);
  });

  it('that is not there is none, and leaves nothing', async () => {
    send = (_request, response) => response.writeHead(404).end('404');
    expect(await download()).toBeNull();
    expect(paths).toBe(0);
  });

  it('is given up with the run', async () => {
    const over = new AbortController();
    send = (_request, response) => response.writeHead(200, { 'content-length': 4 }).write('one', () => over.abort());
    await expect(download(over.signal)).rejects.toThrow('aborted');
  });
});
