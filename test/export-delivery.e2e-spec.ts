import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { Comfy } from '@comfyorg/sdk';
import { Prisma } from '@prisma/client';
import { ApiClient, TestStack, eventually, testS3, type TestAccount } from '@millrace/testing';

const GRAPH = {
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
};

interface Delivery {
  id: string;
  day: string | null;
  state: string;
  location: string | null;
  usage: { rows: number; charged_micros: number } | null;
  ledger: { rows: number; charged_micros: number } | null;
  attempts: { error: string | null }[];
}
interface Manifest {
  account_id: string;
  day: string;
  files: { name: string; rows: number; charged_micros: number; sha256: string }[];
}

const bucket = `millrace-${randomUUID()}`;
const { endpoint, region, accessKeyId, secretAccessKey } = testS3();
const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });
let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  stack = await TestStack.start({ workers: 1, settings: { MILLRACE_EXPORT_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(async () => {
  const broken = stack.api.lines.filter((line) => line.includes('request failed'));
  await stack.stop();
  s3.destroy();
  expect(broken).toEqual([]);
});

async function bytesOf(name: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: name }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}
async function namesIn(): Promise<string[]> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key = '' }) => Key);
}
const put = (changes: object = {}): ReturnType<ApiClient['call']> =>
  client.call('PUT', '/platform/v1/export-destination', {
    json: {
      bucket,
      region,
      endpoint,
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
      prefix: 'books',
      ...changes,
    },
  });
const ended = (id: string): Promise<Delivery> =>
  eventually('the delivery to end', async () => {
    const { body } = await client.call<Delivery>('GET', `/platform/v1/export-deliveries/${id}`);
    return body.state === 'pending' ? null : body;
  });

/**
 * A day is complete when the clock says so: what the books have of the account happened two days earlier instead.
 *
 * @returns the day of the job.
 */
async function moveBack(jobId: string): Promise<string> {
  const { database } = stack.test;
  await database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`ALTER TABLE ledger_transactions DISABLE TRIGGER ledger_transactions_append_trigger`);
    await tx.execute(Prisma.sql`
      UPDATE ledger_transactions SET at = at - interval '2 days' WHERE account_id = ${account.id}::uuid`);
    await tx.execute(Prisma.sql`ALTER TABLE ledger_transactions ENABLE TRIGGER ledger_transactions_append_trigger`);
    await tx.execute(Prisma.sql`
      UPDATE usage_records SET finished_at = finished_at - interval '2 days' WHERE account_id = ${account.id}::uuid`);
  });
  const [row] = await database.rows<{ day: string }>(Prisma.sql`
    SELECT to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM usage_records WHERE job_id = ${jobId}::uuid`);
  return row?.day ?? '';
}

/** The checks of the audit that found something. */
async function auditOf(): Promise<string[]> {
  const { findings } = await stack.admin<{ findings: { check: string }[] }>('GET', '/audit');
  return findings.map(({ check }) => check);
}

it('a test says what is wrong with a bucket, and what works', async () => {
  for (const [changes, sentence] of [
    [{ bucket: 'there-is-no-such-bucket' }, 'There is no such bucket.'],
    [{ secret_access_key: 'another' }, 'The secret access key is not that of the access key.'],
    [{}, null],
  ] as const) {
    const { status, text } = await put(changes);
    expect([status, text.includes(secretAccessKey)]).toEqual([200, false]);
    const { status: made, body } = await client.call<Delivery>('POST', '/platform/v1/export-destination/test');
    expect(made).toBe(201);
    const { state, attempts } = await ended(body.id);
    expect([state, attempts.at(-1)?.error]).toEqual([sentence === null ? 'delivered' : 'failed', sentence]);
  }
  expect(await namesIn()).toContain('books/test.txt');
});

it('what the official client ran is delivered, reconciled with the ledger by the audit', async () => {
  process.env.COMFY_BASE_URL = stack.publicUrl;
  const comfy = new Comfy({ apiKey: account.apiKey });
  const job = await comfy.run(comfy.workflows.fromJson(GRAPH));
  const id = job.id;
  await eventually('the job to end', async () => {
    const { body } = await client.call<{ status: string }>('GET', `/api/v2/jobs/${id}`);
    return body.status === 'succeeded' ? true : null;
  });
  const day = await moveBack(id);
  await put();
  const { body: asked } = await client.call<Delivery>('POST', `/platform/v1/exports/${day}/deliver`);
  const delivery = await ended(asked.id);
  const manifest = JSON.parse((await bytesOf(`books/manifest/${day}.json`)).toString()) as Manifest;
  expect(delivery).toMatchObject({ day, state: 'delivered', location: `s3://${bucket}/books/` });
  expect(manifest.files.map(({ rows, charged_micros }) => ({ rows, charged_micros }))).toEqual([
    delivery.usage,
    delivery.ledger,
  ]);
  expect(manifest.files[0]?.charged_micros).toBe(manifest.files[1]?.charged_micros);
  const [usage, ledger] = await Promise.all(
    manifest.files.map(async ({ name, sha256 }) => {
      const bytes = await bytesOf(name);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      return gunzipSync(bytes).toString();
    }),
  );
  expect([usage?.includes(id), ledger?.includes(id)]).toEqual([true, true]);
  // The same bytes as a download has.
  const answer = await fetch(`${stack.publicUrl}/platform/v1/exports/${day}/usage.csv.gz`, {
    headers: { authorization: `Bearer ${account.apiKey}` },
  });
  expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()).toBe(usage);
  const checks = await auditOf();
  expect(checks).not.toContain('delivered-export-is-of-the-ledger');
  await stack.test.database.execute(Prisma.sql`
    UPDATE export_deliveries SET usage_micros = usage_micros + 1 WHERE id = ${delivery.id}::uuid`);
  expect(await auditOf()).toContain('delivered-export-is-of-the-ledger');
});

it('endpoints where nothing may be sent are refused, and name the field', async () => {
  for (const url of ['https://169.254.169.254/', 'http://10.0.0.1:9000/', 'file:///etc/passwd']) {
    const { status, text } = await put({ endpoint: url });
    expect([status, text.includes('endpoint')]).toEqual([422, true]);
  }
});
