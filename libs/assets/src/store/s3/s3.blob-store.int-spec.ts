import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { testS3 } from '@millrace/testing';
import { describeBlobStore } from '../blob-store.conformance';
import { createTestBucket } from '../../fixtures/test-bucket';
import { describeNoteStore } from '../note-store.conformance';
import { describePartStore } from '../part-store.conformance';
import { DEFAULT_REQUEST_POLICY, createS3Client, s3FaultOf, type S3Address } from './s3-client';
import { S3BlobStore } from './s3.blob-store';
import { copyObject, type Bucket } from './s3-staging';

const failFast = { ...DEFAULT_REQUEST_POLICY, maxAttempts: 1, connectTimeoutMs: 30_000 };
let address: S3Address;
beforeAll(async () => {
  address = await createTestBucket();
});

describeBlobStore('a bucket of blobs', async () => new S3BlobStore(address));
describePartStore('a bucket', async () => new S3BlobStore(await createTestBucket()));
describeNoteStore('a bucket', async () => new S3BlobStore(await createTestBucket()));

describe('a copy in a bucket', () => {
  const MIB = 1024 * 1024;
  const bytes = randomBytes(11 * MIB + 5);
  const bucketOf = (store: S3BlobStore): Bucket => (store as unknown as { bucket: Bucket }).bucket;
  let store: S3BlobStore;
  beforeAll(async () => {
    store = new S3BlobStore(await createTestBucket());
    await (await store.stage(Readable.from([bytes]), { maxBytes: 100 * MIB })).place('source');
  });
  afterAll(() => store.close());

  it('is made in parts where it is too large for one request, and is whole', async () => {
    const parts = { source: 'blobs/source', target: 'blobs/target', sizeBytes: bytes.length };
    await copyObject(bucketOf(store), parts, 5 * MIB);
    expect((await buffer(await store.open('target'))).equals(bytes)).toBe(true);
  });

  it('that fails leaves nothing under its key, and no open upload', async () => {
    const parts = { source: 'blobs/source', target: 'blobs/half', sizeBytes: 100 * MIB };
    await expect(copyObject(bucketOf(store), parts, 5 * MIB)).rejects.toThrow();
    expect(await store.stat('half')).toBeNull();
    for await (const { name } of store.stagedBefore(new Date(Date.now() + 60_000))) {
      throw new Error(`${name} was left behind`);
    }
  });
});

it.each(['staging', 'blobs', 'exports'])(
  'an upload below %s/ that broke off is dropped with what was staged',
  async (folder) => {
    const place = await createTestBucket();
    const store = new S3BlobStore(place);
    const client = createS3Client(place, failFast);
    const Key = `${folder}/broke/off`;
    await client.send(new CreateMultipartUploadCommand({ Bucket: place.bucket, Key }));
    const names: string[] = [];
    for await (const leftover of store.stagedBefore(new Date(Date.now() + 60_000))) {
      names.push(leftover.name);
      await leftover.drop();
    }
    expect(names).toEqual([expect.stringContaining(Key)]);
    const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: place.bucket }));
    expect(Uploads ?? []).toEqual([]);
    client.destroy();
    store.close();
  },
);

describe('a bucket of blobs', () => {
  const text = 'a picture, by and by';
  const options = {
    contentType: 'image/png',
    disposition: `attachment; filename="cat 1.png"; filename*=UTF-8''k%C3%A4tzchen.png`,
    expiresSeconds: 60,
  };
  let store: S3BlobStore;
  beforeAll(async () => {
    store = new S3BlobStore(address);
    await (await store.stage(Readable.from([Buffer.from(text)]), { maxBytes: 100 })).place('an/ob/ject');
  });
  afterAll(() => store.close());

  it('is read through a presigned link without credentials, under the type and name that were asked for', async () => {
    const answer = await fetch(await store.presign('an/ob/ject', { ...options, method: 'GET' }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('content-disposition')).toBe(options.disposition);
    expect(await answer.text()).toBe(text);
  });

  it('answers HEAD through a link presigned for HEAD, and through no other', async () => {
    const head = await store.presign('an/ob/ject', { ...options, method: 'HEAD' });
    expect((await fetch(head, { method: 'HEAD' })).status).toBe(200);
    const get = await store.presign('an/ob/ject', { ...options, method: 'GET' });
    expect((await fetch(get, { method: 'HEAD' })).status).toBe(403);
  });

  it.each([
    ['another key', (url: URL) => (url.pathname = url.pathname.replace('ject', 'jects'))],
    ['another type', (url: URL) => url.searchParams.set('response-content-type', 'text/html')],
    ['a longer life', (url: URL) => url.searchParams.set('X-Amz-Expires', '6000')],
    ['another signature', (url: URL) => url.searchParams.set('X-Amz-Signature', '0'.repeat(64))],
  ])('refuses a presigned link that was altered to %s', async (_, alter) => {
    const url = new URL(await store.presign('an/ob/ject', { ...options, method: 'GET' }));
    alter(url);
    expect((await fetch(url)).status).toBe(403);
  });

  it('is linked to under the endpoint that customers reach', async () => {
    const outside = new S3BlobStore(address, 'https://files.example.com');
    const url = new URL(await outside.presign('an/ob/ject', { ...options, method: 'GET' }));
    expect(`${url.origin}${url.pathname}`).toBe(`https://files.example.com/${address.bucket}/blobs/an/ob/ject`);
    outside.close();
  });

  it.each<[string, Partial<S3Address>, string]>([
    ['a wrong secret', { credentials: { accessKeyId: testS3().accessKeyId, secretAccessKey: 'wrong' } }, 'denied'],
    ['a bucket that is not there', { bucket: `millrace-${randomUUID()}` }, 'missing'],
    ['a server that is not there', { endpoint: 'http://127.0.0.1:1' }, 'unreachable'],
  ])('says what is wrong with %s', async (_, overrides, fault) => {
    const wrong = new S3BlobStore({ ...address, ...overrides }, undefined, failFast);
    await expect(wrong.check()).rejects.toMatchObject({ name: 'BlobStoreError', fault });
    await expect(wrong.check()).rejects.toThrow(`The bucket ${overrides.bucket ?? address.bucket} cannot be used`);
    wrong.close();
  });

  it('is used with the credentials that the SDK finds by itself, where none are set', async () => {
    const { accessKeyId, secretAccessKey } = testS3();
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
    const chained = new S3BlobStore({ ...address, credentials: undefined }, undefined, failFast);
    await expect(chained.check()).resolves.toBeUndefined();
    chained.close();
  });

  it('distinguishes a server without room from one that asks us to wait', () => {
    const answered = (name: string, httpStatusCode: number): Error =>
      Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
    expect(s3FaultOf(answered('XMinioStorageFull', 507)).fault).toBe('full');
    expect(s3FaultOf(answered('SlowDown', 503)).fault).toBe('unreachable');
    expect(s3FaultOf(answered('InvalidArgument', 400)).fault).toBe('failed');
  });
});
