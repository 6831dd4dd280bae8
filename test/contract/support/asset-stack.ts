import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { blobKey } from '@millrace/assets';
import { ApiClient, TestStack, testS3, type TestAccount } from '@millrace/testing';

export const STORES = ['a folder', 'a bucket'] as const;
export type Store = (typeof STORES)[number];

/** Longer than processes take to come up on a busy machine. */
export const BOOT_MS = 300_000;

/** The service over one kind of store, with a cloud and a self-hosted listener, and two accounts. */
export interface AssetStack {
  stack: TestStack;
  selfHosted: string;
  account: TestAccount;
  client: ApiClient;
  other: ApiClient;
  /** Id of a deployment of the first account. */
  deployment(): Promise<string>;
  /** How much lies in the store that no key names yet. */
  stagedObjects(): Promise<number>;
  /** Let other bytes lie where those of an asset do; null: none. */
  replaceBytes(assetId: string, bytes: Buffer | null): Promise<void>;
}

export async function startAssetStack(
  store: Store,
  settings: Record<string, string> = {},
  workers = 1,
): Promise<AssetStack> {
  const place: Record<string, string> = store === 'a bucket' ? await settingsOfNewBucket() : {};
  const stack = await TestStack.start({ workers, settings: { ...place, ...settings } });
  try {
    const self = await stack.spawn('api', { MILLRACE_SURFACE: 'self_hosted' });
    const [account, stranger] = [await stack.createAccount(), await stack.createAccount()];
    const client = new ApiClient(stack.publicUrl, account.apiKey);
    const other = new ApiClient(stack.publicUrl, stranger.apiKey);
    const stagedObjects = (): Promise<number> =>
      store === 'a bucket' ? countInBucket(place.S3_BUCKET ?? '') : countInFolder(stack.env.MILLRACE_BLOB_DIR ?? '');
    const replaceBytes = async (assetId: string, bytes: Buffer | null): Promise<void> => {
      const key = `blobs/${await keyOf(stack, assetId)}`;
      if (store === 'a bucket') await putIntoBucket({ Bucket: place.S3_BUCKET ?? '', Key: key }, bytes);
      else await putIntoFolder(join(stack.env.MILLRACE_BLOB_DIR ?? '', key), bytes);
    };
    const deployment = once(() => recordDeployment(stack, account.id));
    return { stack, selfHosted: self.publicUrl, account, client, other, deployment, stagedObjects, replaceBytes };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** A deployment that never had a worker: assets need none. */
async function recordDeployment({ test }: TestStack, accountId: string): Promise<string> {
  const id = randomUUID();
  const poolId = `pool-${id}`;
  await test.database.models.pool.create({ data: { id: poolId, engine: 'cpu' } });
  await test.database.models.deployment.create({ data: { id, accountId, poolId, name: 'of a test' } });
  return id;
}

async function keyOf({ test }: TestStack, assetId: string): Promise<string> {
  const { asset, blob } = test.database.models;
  const { accountId, hash } = await asset.findUniqueOrThrow({ where: { id: assetId } });
  const { createdAt: bornAt } = await blob.findFirstOrThrow({ where: { accountId, hash } });
  return blobKey({ accountId, hash, bornAt });
}

async function putIntoFolder(path: string, bytes: Buffer | null): Promise<void> {
  await (bytes === null ? rm(path) : writeFile(path, bytes));
}

async function putIntoBucket(object: { Bucket: string; Key: string }, bytes: Buffer | null): Promise<void> {
  const put = (): PutObjectCommand => new PutObjectCommand({ ...object, Body: bytes ?? '' });
  await withS3(async (client) => {
    await (bytes === null ? client.send(new DeleteObjectCommand(object)) : client.send(put()));
  });
}

async function withS3<T>(use: (client: S3Client) => Promise<T>): Promise<T> {
  const { endpoint, region, ...credentials } = testS3();
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

async function countInFolder(dir: string): Promise<number> {
  const entries = await readdir(join(dir, 'staging'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

function countInBucket(Bucket: string): Promise<number> {
  return withS3(async (client) => {
    const objects = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'staging/' }));
    const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'staging/' }));
    return (objects.KeyCount ?? 0) + (uploads.Uploads?.length ?? 0);
  });
}

async function settingsOfNewBucket(): Promise<Record<string, string>> {
  const { endpoint, region, ...credentials } = testS3();
  const bucket = `millrace-${randomUUID()}`;
  await withS3((client) => client.send(new CreateBucketCommand({ Bucket: bucket })));
  return {
    MILLRACE_BLOB_DIR: '',
    S3_BUCKET: bucket,
    S3_REGION: region,
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}
