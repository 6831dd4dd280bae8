import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { DEFAULT_REQUEST_POLICY, type S3Address } from './s3-client';
import { S3BlobStore } from './s3.blob-store';

const MIB = 1024 * 1024;

/** What was asked of a server that says yes to everything. */
interface Asked {
  method: string;
  host: string;
  path: string;
  headers: IncomingHttpHeaders;
}

let server: Server;
let asked: Asked[];
let refusals: number;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { method = '', url = '', headers } = request;
      asked.push({ method, host: headers.host ?? '', path: url, headers });
      if (refusals > 0) {
        refusals -= 1;
        response.writeHead(503).end();
        return;
      }
      const begins = url.includes('?uploads');
      response.setHeader('ETag', '"e"');
      response.end(
        begins ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>' : '<Ok/>',
      );
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterAll(() => server.close());
beforeEach(() => {
  asked = [];
  refusals = 0;
});

async function put(size: number, more: Partial<S3Address> = {}): Promise<void> {
  const store = storeOf(more);
  const bytes = Readable.from([Buffer.alloc(size)]);
  await (await store.stage(bytes, { maxBytes: 100 * MIB })).place('a/key');
  store.close();
}

function storeOf(more: Partial<S3Address>, maxAttempts = 3): S3BlobStore {
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const address = { bucket: 'bytes', region: 'us-east-1', endpoint: `http://localhost:${port}`, credentials, ...more };
  return new S3BlobStore(address, undefined, { ...DEFAULT_REQUEST_POLICY, maxAttempts });
}

const makesObject = ({ method, path, headers }: Asked): boolean =>
  path.includes('?uploads') ||
  headers['x-amz-copy-source'] !== undefined ||
  (method === 'PUT' && !path.includes('partNumber'));

describe('requests to a bucket', () => {
  it.each([
    ['in memory', 10],
    ['in parts', 6 * MIB],
  ])('that make an object from what was staged %s say how it is to be encrypted', async (_, size) => {
    await put(size, { encryption: { kind: 'aws:kms', kmsKeyId: 'key-1' } });
    const making = asked.filter(makesObject);
    expect(making.length).toBe(size > 5 * MIB ? 2 : 1);
    for (const { headers } of making) {
      expect(headers).toMatchObject({
        'x-amz-server-side-encryption': 'aws:kms',
        'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
      });
    }
  });

  it('say nothing of encryption where nothing is set', async () => {
    await put(6 * MIB);
    for (const { headers } of asked) expect(headers).not.toHaveProperty('x-amz-server-side-encryption');
  });

  it('name the bucket in the path of a given endpoint, or in the host where that is set', async () => {
    await put(10);
    expect(asked[0]?.path).toMatch(/^\/bytes\/blobs\/a\/key/);
    const virtual = storeOf({ pathStyle: false, endpoint: 'https://s3.example.com' });
    const link = { method: 'GET', contentType: 'a/b', disposition: 'inline', expiresSeconds: 60 } as const;
    expect(await virtual.presign('a/key', link)).toMatch(/^https:\/\/bytes\.s3\.example\.com\/blobs\/a\/key\?/);
    virtual.close();
  });

  it('are sent again when the server asks us to wait', async () => {
    refusals = 2;
    await put(10);
    expect(asked).toHaveLength(3);
  });

  it('find a socket however many objects are open and unread', async () => {
    const store = storeOf({}, 1);
    const unread = await Promise.all(Array.from({ length: 60 }, () => store.open('a/key')));
    for (const size of [10, 6 * MIB]) {
      await (await store.stage(Readable.from([Buffer.alloc(size)]), { maxBytes: 100 * MIB })).place('a/key');
    }
    expect(asked.filter(makesObject)).toHaveLength(3);
    for (const body of unread) body.destroy();
    store.close();
  });

  it('that fail every time are given up as unreachable', async () => {
    refusals = 3;
    await expect(put(10)).rejects.toMatchObject({ name: 'BlobStoreError', fault: 'unreachable' });
    expect(asked).toHaveLength(3);
  });
});
