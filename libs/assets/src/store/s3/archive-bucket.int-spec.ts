import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DeleteObjectCommand,
  GetObjectRetentionCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createTestBucket } from '../../fixtures/test-bucket';
import { ArchiveBucket } from './archive-bucket';
import { DEFAULT_REQUEST_POLICY, createS3Client, type S3Address } from './s3-client';

const DAY_MS = 86_400_000;
const once = { ...DEFAULT_REQUEST_POLICY, maxAttempts: 1 };
const object = (name: string, text = 'sealed') => ({
  name,
  contentType: 'application/x-ndjson',
  bytes: Buffer.from(text),
});

let locking: S3Address;
let plain: S3Address;
let client: S3Client;
const open: ArchiveBucket[] = [];
beforeAll(async () => {
  locking = await createTestBucket({ locks: true });
  plain = await createTestBucket();
  client = createS3Client(locking, DEFAULT_REQUEST_POLICY);
});
afterAll(() => {
  client.destroy();
  for (const bucket of open) bucket.close();
});

function bucketAt(address: S3Address, lockDays: number): ArchiveBucket {
  const bucket = new ArchiveBucket(address, lockDays, once);
  open.push(bucket);
  return bucket;
}
const namesIn = async (address: S3Address): Promise<string[]> => {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: address.bucket }));
  return Contents.map(({ Key = '' }) => Key);
};

describe('a bucket that locks', () => {
  it('keeps an object for as many days as are set: nobody deletes it, and nobody replaces it', async () => {
    const bucket = bucketAt(locking, 30);
    await bucket.write(object('log/1'));
    const target = { Bucket: locking.bucket, Key: 'log/1' };
    const { Retention } = await client.send(new GetObjectRetentionCommand(target));
    expect(Retention?.Mode).toBe('COMPLIANCE');
    const days = ((Retention?.RetainUntilDate?.getTime() ?? 0) - Date.now()) / DAY_MS;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
    const refused = { name: 'AccessDenied' };
    await expect(client.send(new DeleteObjectCommand(target))).rejects.toMatchObject(refused);
    await expect(
      client.send(new DeleteObjectCommand({ ...target, BypassGovernanceRetention: true })),
    ).rejects.toMatchObject(refused);
    await expect(client.send(new PutObjectCommand({ ...target, Body: 'another' }))).rejects.toMatchObject(refused);
    await expect(bucket.write(object('log/1', 'another'))).rejects.toThrow(`The bucket ${locking.bucket}: `);
    expect((await bucket.read('log/1'))?.toString()).toBe('sealed');
  });

  it('takes objects without a lock as well', async () => {
    await bucketAt(locking, 0).write(object('unlocked'));
    await client.send(new DeleteObjectCommand({ Bucket: locking.bucket, Key: 'unlocked' }));
  });
});

describe('a bucket that does not lock', () => {
  it('gets nothing that is to be locked, and says so', async () => {
    await expect(bucketAt(plain, 30).write(object('log/1'))).rejects.toThrow(
      `The bucket ${plain.bucket}: It has no Object Lock, so nothing is written. Name one that has.`,
    );
    expect(await namesIn(plain)).toEqual([]);
  });

  it('gets what is not to be locked, and lists and reads it', async () => {
    const bucket = bucketAt(plain, 0);
    for (const name of ['log/2', 'log/1', 'other/1']) await bucket.write(object(name, name));
    expect(await bucket.list('log/', 10)).toEqual(['log/1', 'log/2']);
    expect(await bucket.list('log/', 1)).toEqual(['log/1']);
    expect(await bucket.list('none/', 1)).toEqual([]);
    expect((await bucket.read('log/2'))?.toString()).toBe('log/2');
    expect(await bucket.read('log/3')).toBeNull();
  });
});

describe('what cannot be done is said in a sentence', () => {
  const nowhere = (): S3Address => ({ ...plain, bucket: 'there-is-no-such-bucket' });
  const wrong = (): S3Address => ({ ...plain, credentials: { accessKeyId: 'nobody', secretAccessKey: 'nothing' } });
  it.each([
    ['There is no such bucket.', nowhere],
    ['The access key is not known to the server.', wrong],
  ])('%s', async (sentence, address) => {
    const bucket = bucketAt(address(), 0);
    const said = `The bucket ${address().bucket}: ${sentence}`;
    await expect(bucket.write(object('a'))).rejects.toThrow(said);
    await expect(bucket.list('a', 1)).rejects.toThrow(said);
    await expect(bucketAt(address(), 1).write(object('a'))).rejects.toThrow(said);
  });
});

describe('a server', () => {
  let server: Server;
  let answer: { status: number; code: string };
  const requests: { method: string; url: string; headers: NodeJS.Dict<string | string[]> }[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
      request.resume().on('end', () => {
        response.writeHead(answer.status, { 'content-type': 'application/xml' });
        response.end(`<Error><Code>${answer.code}</Code><Message>no</Message></Error>`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => void requests.splice(0));
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  const there = (): S3Address => ({
    ...plain,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });

  it.each([
    [501, 'NotImplemented', 'It has no Object Lock, so nothing is written. Name one that has.'],
    [
      403,
      'AccessDenied',
      'The credentials do not allow to ask whether it has Object Lock (s3:GetBucketObjectLockConfiguration).',
    ],
  ])('that answers %d %s when it is asked whether it locks gets nothing', async (status, code, sentence) => {
    answer = { status, code };
    await expect(bucketAt(there(), 1).write(object('a'))).rejects.toThrow(sentence);
    expect(requests.map(({ method, url }) => [method, url])).toEqual([['GET', `/${plain.bucket}/?object-lock=`]]);
  });

  it('gets a checksum with every object, as S3 demands of what is locked', async () => {
    answer = { status: 403, code: 'AccessDenied' };
    await expect(bucketAt(there(), 0).write(object('a'))).rejects.toThrow('s3:PutObject');
    // `printf sealed | openssl md5 -binary | base64`
    expect(requests[0]?.headers['content-md5']).toBe('C+rYhIA/6MVkPdoNy5SxvA==');
    expect(requests[0]?.headers['x-amz-object-lock-mode']).toBeUndefined();
  });
});
