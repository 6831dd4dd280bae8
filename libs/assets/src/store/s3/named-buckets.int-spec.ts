import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { GetObjectCommand, ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';
import { AddressGuard, readNetworks, type ResolveHost } from '@millrace/platform';
import { HOSTILE_ADDRESSES, HOSTILE_SHAPES, HOSTILE_URLS } from '@millrace/testing';
import { createTestBucket } from '../../fixtures/test-bucket';
import { NamedBuckets, type NamedBucket } from './named-buckets';
import { DEFAULT_REQUEST_POLICY, createS3Client, type S3Address } from './s3-client';

const hosted = new AddressGuard([]);
const loopback = guardOf('127.0.0.1/32');
const never = new AbortController().signal;
const UNSENT = 'The server is not at a public address.';

let address: S3Address;
let reader: S3Client;
let server: Server;
let endpoint: string;
/** Requests that reached the server on loopback that is no S3. */
let requests: string[] = [];
let respond: RequestListener;
beforeAll(async () => {
  address = await createTestBucket();
  reader = createS3Client(address, DEFAULT_REQUEST_POLICY);
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => respond(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requests = [];
  respond = (_request, response) => void response.end();
});
afterAll(async () => {
  reader.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function guardOf(text: string): AddressGuard {
  const networks = readNetworks(text);
  if (typeof networks === 'string') throw new Error(networks);
  return new AddressGuard(networks);
}

const own = (): NamedBucket => ({
  bucket: address.bucket,
  region: address.region,
  endpoint: address.endpoint ?? null,
  accessKeyId: address.credentials?.accessKeyId ?? '',
  secretAccessKey: address.credentials?.secretAccessKey ?? '',
});
const elsewhere = (url: string): NamedBucket => ({ ...own(), bucket: 'some-bucket', endpoint: url });
const textOf = (text: string): Readable => Readable.from([Buffer.from(text)]);

async function write(
  target: NamedBucket | null,
  bytes: Readable = textOf('a,b\r\n'),
  { guard = loopback, resolve, name = 'a/b.txt' }: { guard?: AddressGuard; resolve?: ResolveHost; name?: string } = {},
): Promise<string | null> {
  const buckets = new NamedBuckets(guard, address, resolve);
  try {
    return await buckets.write(target, { name, contentType: 'text/plain', bytes }, never);
  } finally {
    await buckets.close();
  }
}

async function read(name: string): Promise<string> {
  const { Body } = await reader.send(new GetObjectCommand({ Bucket: address.bucket, Key: name }));
  return (await Body?.transformToString()) ?? '';
}

describe('a bucket that a customer names', () => {
  it.each(['short', '', 'again'])('has what was written, over what was there: %j', async (text) => {
    expect(await write(own(), textOf(text), { name: "it's (one)/of mine!.txt" })).toBeNull();
    expect(await read("it's (one)/of mine!.txt")).toBe(text);
  });

  it('gets a long file in parts, whole', async () => {
    const lines = 400_000;
    const rows = Readable.from(
      (function* () {
        for (let at = 0; at < lines; at += 1_000) {
          const text = Array.from({ length: 1_000 }, (_, line) => `${at + line},${'x'.repeat(40)}`).join('\r\n');
          yield Buffer.from(`${text}\r\n`);
        }
      })(),
      { objectMode: false },
    );
    expect(await write(own(), rows, { name: 'long.csv' })).toBeNull();
    const written = await read('long.csv');
    expect([written.split('\r\n').length, written.endsWith(`${lines - 1},${'x'.repeat(40)}\r\n`)]).toEqual([
      lines + 1,
      true,
    ]);
  });

  it('has nothing of what broke off, and the fault of the source is thrown', async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(20_000_000, 'x');
        throw new Error('the books cannot be read');
      })(),
    );
    await expect(write(own(), broken, { name: 'broken.csv' })).rejects.toThrow('the books cannot be read');
    await expect(read('broken.csv')).rejects.toThrow();
    const { Uploads = [] } = await reader.send(new ListMultipartUploadsCommand({ Bucket: address.bucket }));
    expect(Uploads.filter(({ Key }) => Key === 'broken.csv')).toEqual([]);
  });

  it.each([
    ['There is no such bucket.', (): NamedBucket => ({ ...own(), bucket: 'there-is-no-such-bucket' })],
    [
      'The secret access key is not that of the access key.',
      (): NamedBucket => ({ ...own(), secretAccessKey: 'another' }),
    ],
    ['The access key is not known to the server.', (): NamedBucket => ({ ...own(), accessKeyId: 'NOBODY' })],
  ])('says why not: %s', async (sentence, target) => expect(await write(target())).toBe(sentence));
});

it("the service's own bucket is written to without the guard, which is of what others name", async () => {
  expect(await write(null, textOf('of the service'), { guard: hosted, name: 'exports/x/test.txt' })).toBeNull();
  expect(await read('exports/x/test.txt')).toBe('of the service');
  const none = new NamedBuckets(hosted, null);
  expect(await none.write(null, { name: 'a', contentType: 'b', bytes: textOf('') }, never)).toBe(
    'The service keeps its bytes in no bucket.',
  );
  await none.close();
});

describe('a server that is hostile', () => {
  it('is tried in at least 40 hostile shapes', () => expect(HOSTILE_SHAPES.length).toBeGreaterThanOrEqual(40));

  it.each(HOSTILE_URLS)('at an address that is %s is refused, and nothing is sent there: %j', async (_, url) => {
    const said = await write(elsewhere(url), textOf('secret'), { guard: hosted, resolve: () => Promise.resolve([]) });
    expect(said).toMatch(/^The endpoint /);
  });

  it.each(HOSTILE_ADDRESSES)('%s is not called by any name', async (ip, family) => {
    const resolve: ResolveHost = () => Promise.resolve([{ address: ip, family }]);
    const { port } = server.address() as AddressInfo;
    expect(await write(elsewhere(`https://s3.example.com:${port}`), undefined, { guard: hosted, resolve })).toBe(
      UNSENT,
    );
    expect(requests).toEqual([]);
  });

  it('is looked at on every connection: a name that changes its address gains nothing', async () => {
    respond = (_request, response) => void response.setHeader('connection', 'close').end();
    const answers = ['127.0.0.1', '169.254.169.254'];
    const resolve: ResolveHost = () => Promise.resolve([{ address: answers.shift() ?? '10.0.0.1', family: 4 }]);
    const { port } = server.address() as AddressInfo;
    const buckets = new NamedBuckets(loopback, null, resolve);
    const target = elsewhere(`http://s3.example.com:${port}`);
    const put = (): Promise<string | null> =>
      buckets.write(target, { name: 'a', contentType: 'text/plain', bytes: textOf('x') }, never);
    expect(await put()).toBeNull();
    expect(await put()).toBe(UNSENT);
    expect(requests).toHaveLength(1);
    await buckets.close();
  });

  it.each([301, 302, 307, 308])('that redirects with %s is not followed', async (status) => {
    respond = (_request, response) => void response.writeHead(status, { location: `${endpoint}/metadata` }).end();
    expect(await write(elsewhere(endpoint))).toMatch(/^The /);
    expect(requests.every((line) => line.startsWith('PUT /some-bucket/a/b.txt'))).toBe(true);
  });

  it('whose answer has no end is not read to it', async () => {
    respond = (_request, response) => {
      response.writeHead(500);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    expect(await write(elsewhere(endpoint))).toMatch(/^The file could not be written/);
  });

  it('whose answer is no answer of S3 is quoted by its status alone', async () => {
    respond = (_request, response) => void response.writeHead(403).end('<Error><Code>root:x:0:0\u0007</Code></Error>');
    expect(await write(elsewhere(endpoint))).toMatch(/^The server answered 403 \([\w.-]*\)\.$/);
  });

  it('that takes bytes and never answers is left when its time is over', async () => {
    respond = () => undefined;
    const buckets = new NamedBuckets(loopback, null);
    const stop = new AbortController();
    const written = buckets.write(
      elsewhere(endpoint),
      { name: 'a', contentType: 'b', bytes: textOf('x') },
      stop.signal,
    );
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(await written).toBe('The server did not take the file in time.');
    await buckets.close();
  });
});
