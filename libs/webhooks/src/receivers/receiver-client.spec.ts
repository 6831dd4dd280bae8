import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AddressGuard, readNetworks } from '@millrace/platform';
import { HOSTILE_ADDRESSES, HOSTILE_SHAPES, HOSTILE_URLS } from '@millrace/testing';
import { ReceiverClient } from './receiver-client';

const hosted = new AddressGuard([]);
const networks = (text: string): AddressGuard => {
  const read = readNetworks(text);
  if (typeof read === 'string') throw new Error(read);
  return new AddressGuard(read);
};

let server: Server;
let port: number;
/** Connections that reached the server on loopback. */
let connections = 0;
let respond: Parameters<typeof createServer>[1];
beforeAll(async () => {
  server = createServer((request, response) => respond?.(request, response));
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
beforeEach(() => {
  connections = 0;
  respond = (_request, response) => void response.end('ok');
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const resolvedTo =
  (...answers: (readonly [string, number])[][]) =>
  () => {
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    return Promise.resolve(addresses.map(([address, family]) => ({ address, family })));
  };

async function withClient<T>(client: ReceiverClient, use: (client: ReceiverClient) => Promise<T>): Promise<T> {
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

describe('the URL of a receiver', () => {
  it('is tried in at least 40 hostile shapes', () => expect(HOSTILE_SHAPES.length).toBeGreaterThanOrEqual(40));

  it.each(HOSTILE_URLS)('that is %s is refused, and nothing is sent there: %j', async (_, url) => {
    expect(hosted.faultOf(url)).not.toBeNull();
    const refuses = resolvedTo([]);
    const sent = await withClient(new ReceiverClient(hosted, 5_000, refuses), (client) => client.post(url, {}, ''));
    expect(sent).toMatchObject({ status: null, error: expect.any(String) as string });
    expect(connections).toBe(0);
  });

  it.each(['https://example.com/hook?a=b', 'https://example.com:8443/', 'https://8.8.8.8/', 'https://[2606:4700::1]/'])(
    '%s is accepted',
    (url) => expect(hosted.faultOf(url)).toBeNull(),
  );

  it('may be private, and http, in an allowed network alone', () => {
    const guard = networks('10.0.0.0/8, fd00::/8');
    expect(guard.faultOf('http://10.1.2.3:80/')).toBeNull();
    expect(guard.faultOf('http://[fd00::1]/')).toBeNull();
    expect(guard.faultOf('http://receiver/')).toBeNull();
    expect(guard.faultOf('http://8.8.8.8/')).not.toBeNull();
    expect(guard.faultOf('https://192.168.0.1/')).not.toBeNull();
    expect(guard.faultOf('https://[::ffff:10.1.2.3]/')).not.toBeNull();
  });
});

describe('the address of a receiver', () => {
  it.each(HOSTILE_ADDRESSES)('%s is not called by any name', async (address, family) => {
    const resolve = resolvedTo([[address, family]]);
    const sent = await withClient(new ReceiverClient(hosted, 5_000, resolve), (client) =>
      client.post(`https://receiver.example.com:${port}/`, {}, ''),
    );
    expect(sent).toMatchObject({ status: null, error: 'The receiver is not at a public address.' });
    expect(connections).toBe(0);
  });

  it('is refused when one of several is', async () => {
    const resolve = resolvedTo([
      ['93.184.216.34', 4],
      ['127.0.0.1', 4],
    ]);
    const sent = await withClient(new ReceiverClient(hosted, 5_000, resolve), (client) =>
      client.post(`https://receiver.example.com:${port}/`, {}, ''),
    );
    expect(sent.error).toBe('The receiver is not at a public address.');
    expect(connections).toBe(0);
  });

  it('is looked at again on every connection: a name that changes its address gains nothing', async () => {
    const guard = networks('127.0.0.1/32');
    respond = (_request, response) => void response.setHeader('connection', 'close').end('ok');
    const resolve = resolvedTo([['127.0.0.1', 4]], [['169.254.169.254', 4]]);
    const url = `http://receiver.example.com:${port}/`;
    const [first, second] = await withClient(new ReceiverClient(guard, 5_000, resolve), async (client) => [
      await client.post(url, {}, ''),
      await client.post(url, {}, ''),
    ]);
    expect(first).toMatchObject({ status: 200, answer: 'ok' });
    expect(second).toMatchObject({ status: null, error: 'The receiver is not at a public address.' });
    expect(connections).toBe(1);
  });

  it('that was reached counts, where it is another than the one that was checked', async () => {
    // The guard admits the address when DNS names it, and not any more when it is reached.
    const guard = networks('127.0.0.1/32');
    const admits = jest.spyOn(guard, 'admits').mockImplementationOnce(() => true);
    admits.mockImplementation(() => false);
    let requests = 0;
    respond = (_request, response) => {
      requests += 1;
      response.end();
    };
    const sent = await withClient(new ReceiverClient(guard, 5_000, resolvedTo([['127.0.0.1', 4]])), (client) =>
      client.post(`http://receiver.example.com:${port}/`, {}, 'secret'),
    );
    expect(sent).toMatchObject({ status: null, error: 'The receiver is not at a public address.' });
    expect(requests).toBe(0);
  });
});

describe('an answer', () => {
  const loopback = networks('127.0.0.1/32');
  const post = (timeoutMs = 60_000): ReturnType<ReceiverClient['post']> =>
    withClient(new ReceiverClient(loopback, timeoutMs), (client) => client.post(`http://127.0.0.1:${port}/`, {}, '{}'));

  it('that redirects is an answer, and is not followed', async () => {
    let requests = 0;
    respond = (_request, response) => {
      requests += 1;
      response.writeHead(302, { location: `http://127.0.0.1:${port}/elsewhere` }).end();
    };
    expect(await post()).toMatchObject({ status: 302 });
    expect(requests).toBe(1);
  });

  it('without an end is read to its first bytes', async () => {
    respond = (_request, response) => {
      const more = (): void => {
        if (response.destroyed) return;
        response.write('x'.repeat(65_536));
        setImmediate(more);
      };
      more();
    };
    const { status, answer } = await post();
    expect(status).toBe(200);
    expect(answer).toBe('x'.repeat(1_024));
  });

  it('has no characters that PostgreSQL cannot store', async () => {
    respond = (_request, response) => void response.end('a\u0000b\u001b[31mc\nd');
    expect((await post()).answer).toBe('a\ufffdb\ufffd[31mc\nd');
  });

  it('that does not come is given up', async () => {
    respond = () => undefined;
    expect(await post(200)).toMatchObject({ status: null, error: 'The receiver did not answer within 0.2 s.' });
  });

  it('that comes byte by byte is given up', async () => {
    const timers: NodeJS.Timeout[] = [];
    respond = (_request, response) => void timers.push(setInterval(() => response.write('x'), 20));
    const sent = await post(300);
    timers.forEach(clearInterval);
    expect(sent).toMatchObject({ status: 200, answer: expect.stringMatching(/^x*$/) as string });
  });

  it('is asked for without a proxy of the environment', async () => {
    process.env.HTTP_PROXY = process.env.http_proxy = 'http://127.0.0.1:1';
    try {
      expect(await post()).toMatchObject({ status: 200 });
    } finally {
      delete process.env.HTTP_PROXY;
      delete process.env.http_proxy;
    }
  });
});

it.each(['10.0.0.0', '10.0.0.0/33', 'x', '', '10.0.0.0/8,'])('%j is no list of networks', (text) => {
  expect(readNetworks(text)).toEqual(expect.any(String));
});
