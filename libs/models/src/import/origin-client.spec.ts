import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AddressGuard, GuardedClient, readNetworks, type GuardedAnswer, type ResolveHost } from '@millrace/platform';
import { HOSTILE_ADDRESSES, HOSTILE_SHAPES, HOSTILE_URLS } from '@millrace/testing';
import { ImportOrigins } from './import-origins';
import { OriginClient } from './origin-client';

const HOST = 'models.example.com';
const SOURCE = `https://${HOST}/a`;
const UNSENT = 'The source is not at a public address.';
const RANGE = { start: 0, end: 8 };
const never = new AbortController().signal;
/** The operator allows every host that a hostile URL names: what refuses it is not their list. */
const HOSTS = HOSTILE_URLS.map(([, url]) => (URL.canParse(url) ? new URL(url).hostname : url));
const origins = (networks = ''): ImportOrigins => {
  const allowed = networks === '' ? [] : readNetworks(networks);
  if (typeof allowed === 'string') throw new Error(allowed);
  return new ImportOrigins([...HOSTS, HOST], new AddressGuard(allowed));
};

let server: Server;
let port: number;
/** Requests that reached the server on loopback. */
let requests = 0;
let respond: RequestListener;
beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
beforeEach(() => {
  requests = 0;
  respond = (_request, response) =>
    void response.writeHead(206, { 'content-range': 'bytes 0-7/8', connection: 'close' }).end('a secret');
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** What comes of reading a source: its problem, or null when it was read. */
async function problemOf(url: string, from = origins(), resolve?: ResolveHost): Promise<string | null> {
  const client = new OriginClient(from, resolve);
  try {
    const { body } = await client.read(url, RANGE, null, never);
    body.on('error', () => undefined).destroy();
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.close();
  }
}

describe('the source of an import', () => {
  it('is tried in at least 40 hostile shapes', () => expect(HOSTILE_SHAPES.length).toBeGreaterThanOrEqual(40));

  it.each(HOSTILE_URLS)('that is %s is refused, and nothing is asked there: %j', async (_, url) => {
    const request = jest.spyOn(GuardedClient.prototype, 'request');
    expect(origins().faultOf(url)).not.toBeNull();
    expect(await problemOf(url, origins(), () => Promise.resolve([]))).toMatch(/^The URL /);
    expect(request).not.toHaveBeenCalled();
  });

  // The others are paths of the source.
  const elsewhere = HOSTILE_URLS.filter(([, url]) => URL.canParse(url) && new URL(url, SOURCE).hostname !== HOST);
  it.each(elsewhere)('that redirects to what is %s is left: %j', async (_, location) => {
    const redirects = { statusCode: 302, headers: { location }, body: Readable.from([]) } as unknown as GuardedAnswer;
    const request = jest.spyOn(GuardedClient.prototype, 'request').mockResolvedValue(redirects);
    expect(await problemOf(SOURCE)).toMatch(/^The URL /);
    expect(request).toHaveBeenCalledTimes(1);
  });

  it.each(HOSTILE_ADDRESSES)('is not asked at %s by any name', async (address, family) => {
    const resolve = (): ReturnType<ResolveHost> => Promise.resolve([{ address, family }]);
    expect(await problemOf(`https://${HOST}:${port}/a`, origins(), resolve)).toBe(UNSENT);
    expect(requests).toBe(0);
  });

  it('is not asked when one of its addresses is refused', async () => {
    const addresses = [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const resolve = (): ReturnType<ResolveHost> => Promise.resolve(addresses);
    expect(await problemOf(`https://${HOST}:${port}/a`, origins(), resolve)).toBe(UNSENT);
    expect(requests).toBe(0);
  });

  it('is looked at again on every connection: a name that changes its address gains nothing', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    const resolve = (): ReturnType<ResolveHost> =>
      Promise.resolve([{ address: answers.shift() ?? '10.0.0.1', family: 4 }]);
    const url = `http://${HOST}:${port}/a`;
    const client = new OriginClient(origins('127.0.0.1/32'), resolve);
    const first = await client.read(url, RANGE, null, never);
    expect(await text(first.body)).toBe('a secret');
    await expect(client.read(url, RANGE, null, never)).rejects.toThrow(UNSENT);
    await client.close();
    expect(requests).toBe(1);
  });

  it('that sends more than the part that was asked for is left for good, with no more of it read', async () => {
    const closed = new Promise<void>((resolve) => {
      respond = (_request, response) => {
        response.writeHead(206, { 'content-range': 'bytes 0-7/8' });
        const send = (): void => void (response.destroyed || (response.write('12345'), setImmediate(send)));
        response.once('close', resolve);
        send();
      };
    });
    const resolve = (): ReturnType<ResolveHost> => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const client = new OriginClient(origins('127.0.0.1/32'), resolve);
    const { body } = await client.read(`http://${HOST}:${port}/a`, RANGE, null, never);
    let bytes = 0;
    const reading = (async () => {
      for await (const chunk of body) {
        bytes += (chunk as Buffer).length;
        if (bytes > 1_000) return;
      }
    })();
    await expect(reading).rejects.toMatchObject({ message: expect.stringContaining('more') as string, isFinal: true });
    expect(bytes).toBeLessThanOrEqual(8);
    await closed;
    await client.close();
  });
});
