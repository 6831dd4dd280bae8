import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Prisma } from '@prisma/client';
import sharp from 'sharp';
import { newId } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, testS3 } from '@millrace/testing';
import {
  allTables,
  archivedEntriesWith,
  dumpLinesWith,
  idsOf,
  objectsWith,
  openUploadsOf,
  redisKeysWith,
  tablesWith,
} from './support';
import { KEPT, NOT_FILLED } from './tables';

/** Found by nothing else: it stands wherever the account can put a text. */
const TOKEN = `canary${randomBytes(8).toString('hex')}`;
/** Runs until it is canceled. */
const ENDLESS = {
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 512, height: 512, steps: 10_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: TOKEN } },
};
const saved = (prefix: string): object => ({
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: prefix } },
});
const loading = (assetId: string): object => ({
  '1': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: assetId } } } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: TOKEN } },
});

/** Nobody can delete what is in it. */
const ARCHIVE = `millrace-${randomUUID()}`;
/** Of all bytes of the stack. */
const BYTES = `millrace-${randomUUID()}`;
const { endpoint, region, accessKeyId, secretAccessKey } = testS3();
const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });

let stack: TestStack;
let server: Server;
/** What the receiver of webhooks was asked. */
let received = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    received += 1;
    request.resume().on('end', () => response.end(`thanks ${TOKEN}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await s3.send(new CreateBucketCommand({ Bucket: ARCHIVE, ObjectLockEnabledForBucket: true }));
  await s3.send(new CreateBucketCommand({ Bucket: BYTES }));
  stack = await TestStack.start({
    settings: {
      MILLRACE_BLOB_DIR: '',
      S3_BUCKET: BYTES,
      MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      MILLRACE_ERASURE_SETTLE_SECONDS: '1',
      MILLRACE_AUDIT_BUCKET: ARCHIVE,
      MILLRACE_AUDIT_LOCK_DAYS: '1',
      S3_ENDPOINT: endpoint,
      S3_REGION: region,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
  });
});
afterAll(async () => {
  await stack.stop();
  s3.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Have what is in the audit log sealed and exported. @returns how many segments there are. */
async function archiveLog(): Promise<number> {
  const { database } = stack.test;
  await database.execute(Prisma.sql`SELECT seal_audit_log(1000, 0)`);
  await eventually('all segments to be exported', async () => {
    return (await database.models.auditSegment.count({ where: { exportedAt: null } })) === 0;
  });
  return database.models.auditSegment.count();
}

const NOWHERE = { tables: [], dump: 0, redis: [], bytes: [], openUploads: 0, objects: [], archived: 0 };

interface Places {
  tables: string[];
  dump: number;
  redis: string[];
  bytes: string[];
  /** Uploads in parts that the bucket still waits for. */
  openUploads: number;
  /** In the bytes of exported segments of the audit log. */
  objects: string[];
  /** In what can be read of them. */
  archived: number;
}

/** Where the token is. */
async function places(): Promise<Places> {
  const segments = await archiveLog();
  return {
    tables: await tablesWith(stack.test.url, TOKEN),
    dump: (await dumpLinesWith(stack.test.url, TOKEN)).length,
    redis: await redisKeysWith(TOKEN),
    bytes: await objectsWith(s3, BYTES, TOKEN),
    openUploads: await openUploadsOf(s3, BYTES),
    objects: await objectsWith(s3, ARCHIVE, TOKEN),
    archived: (await archivedEntriesWith(stack.env, segments, TOKEN)).length,
  };
}

/** An account that uses the token wherever it can, and works. */
async function fillAccount(): Promise<{ id: string; client: ApiClient; running: string }> {
  const { id } = await stack.admin<{ id: string }>('POST', '/accounts', { name: `account ${TOKEN}` });
  await stack.admin('POST', `/accounts/${id}/credits`, { amount_micros: 500_000_000, reason: `for ${TOKEN}` });
  const keyName = { name: `key ${TOKEN}` };
  const { key } = await stack.admin<{ key: string }>('POST', `/accounts/${id}/api-keys`, keyName);
  await stack.admin('POST', '/deployments', { account_id: id, name: `deployment ${TOKEN}`, engine: 'cpu' });
  const client = new ApiClient(stack.publicUrl, key);
  const post = async (path: string, json: object, headers: Record<string, string> = {}): Promise<{ id: string }> => {
    const { status, body, text } = await client.call<{ id: string }>('POST', path, { json, headers });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return body;
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${TOKEN}`;
  await post('/platform/v1/webhook-endpoints', { url, description: TOKEN });
  const rule = { label: TOKEN, value: TOKEN, max_jobs: 100 };
  await client.call('PUT', '/platform/v1/label-rules', { json: rule });
  const bucket = {
    bucket: 'finance',
    region: 'eu-central-1',
    access_key_id: TOKEN,
    secret_access_key: TOKEN,
    prefix: `${TOKEN}/`,
  };
  expect((await client.call('PUT', '/platform/v1/export-destination', { json: bucket })).status).toBeLessThan(300);
  const person = { accountId: id, email: `${TOKEN}@example.com`, role: 'owner' };
  const { member, invitation } = stack.test.database.models;
  await member.create({ data: { ...person, id: newId() } });
  const invited = { invitedBy: TOKEN, tokenHash: randomBytes(32), expiresAt: new Date(Date.now() + 86_400_000) };
  await invitation.create({ data: { ...person, ...invited, id: newId() } });
  const labels = { [TOKEN]: TOKEN };
  await post('/platform/v1/api-keys', { ...keyName, labels });
  await post('/platform/v1/models', { folder: 'loras', name: `${TOKEN}.safetensors`, size_bytes: 20_000_000 });
  const file = { content_type: 'video/mp4', file_path: `${TOKEN}.mp4`, size_bytes: 20_000_000 };
  await post('/api/v2/uploads', file);
  await post('/platform/v1/estimates', { workflow: saved(TOKEN), metadata: labels });

  const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } })
    .withMetadata()
    .png()
    .toBuffer();
  const form = { content_type: 'image/png', file_path: `${TOKEN}.png` };
  const { body: good } = await client.upload(Buffer.concat([picture, Buffer.from(TOKEN)]), form);
  const keyed = { 'Idempotency-Key': TOKEN };
  const { body: bad } = await client.upload(Buffer.from(`no picture but ${TOKEN}`), form, keyed);
  const { body: first } = await client.submit(JSON.stringify({ workflow: loading(good.id), metadata: labels }), keyed);
  const { id: failing } = await client.run(loading(bad.id), { metadata: labels });
  const item = { workflow: saved(TOKEN), metadata: labels };
  const batch = await post('/api/v2/batches', { jobs: [item, item] }, { 'Idempotency-Key': `batch-${TOKEN}` });
  expect((await client.ended(first.id)).status).toBe('succeeded');
  expect((await client.ended(failing)).status).toBe('failed');
  await eventually('the batch to end', async () => {
    const { body } = await client.call<{ completed_at: string | null }>('GET', `/api/v2/batches/${batch.id}`);
    return body.completed_at !== null;
  });
  await eventually('webhooks to be answered', () => received >= 2);
  await leaveTraces(id, failing, batch.id);
  const { id: running } = await client.run(ENDLESS, { metadata: labels });
  await eventually('a job to run', async () => (await client.job(running)).status === 'running');
  return { id, client, running };
}

/** What versions of deployments, an engine with a log, members by mail and the console leave, which this test does not use. */
async function leaveTraces(accountId: string, jobId: string, batchId: string): Promise<void> {
  const { models } = stack.test.database;
  const later = new Date(Date.now() + 86_400_000);
  const own = (): { id: string; accountId: string } => ({ id: newId(), accountId });
  const text = Buffer.from(TOKEN);
  await models.consoleSession.create({ data: { ...own(), secretHash: randomBytes(32), expiresAt: later } });
  await models.signInLink.create({ data: { ...own(), tokenHash: randomBytes(32), expiresAt: later } });
  await models.mailMessage.create({ data: { ...own(), sealed: text, dueAt: later, expiresAt: later } });
  await models.invitationMail.create({ data: { ...own(), addressHash: randomBytes(32) } });
  await models.jobLog.create({
    data: { jobId, text: TOKEN, truncated: false, complete: true, capturedAt: new Date() },
  });
  const retry = { batchId, idempotencyKey: TOKEN, requestHash: randomBytes(32), jobCount: 1 };
  await models.batchRetry.create({ data: retry });
  const { id: deploymentId, poolId } = await models.deployment.findFirstOrThrow({ where: { accountId } });
  await models.deployment.update({ where: { id: deploymentId }, data: { warmUp: TOKEN, models: [TOKEN] } });
  const pool = await models.pool.create({ data: { id: `${poolId}-v2`, engine: 'cpu' } });
  const version = { deploymentId, number: 2, poolId: pool.id, weight: 0, endedAt: new Date() };
  const scale = { minWorkers: 0, maxWorkers: 1, idleSeconds: 60 };
  await models.deploymentVersion.create({ data: { ...version, ...scale, warmUp: TOKEN, models: [TOKEN] } });
}

it('of an erased account nothing is found: in no table and no column, in no dump, in Redis and among the bytes', async () => {
  const { id, client } = await fillAccount();
  const before = await places();
  // Every table is searched for something that stands in it, and one that is new is noticed.
  const ids = await idsOf(stack.test.url, id);
  const filled = await tablesWith(stack.test.url, TOKEN, ...ids);
  expect((await allTables(stack.test.url)).filter((name) => !filled.includes(name))).toEqual(NOT_FILLED);
  // What the search can find at all.
  expect(before.tables).toEqual(
    expect.arrayContaining([
      ...[
        'accounts',
        'api_keys',
        'assets',
        'audit_log',
        'batches',
        'deployments',
        'export_destinations',
        'idempotency_keys',
        'invitations',
        'members',
      ],
      ...[
        'job_graphs',
        'job_outputs',
        'jobs',
        'label_rules',
        'label_use',
        'ledger_transactions',
        'models',
        'resumable_uploads',
      ],
      ...['deployment_versions', 'usage_records', 'webhook_attempts', 'webhook_endpoints'],
    ]),
  );
  // Redis has ids alone; that they are found shows that the right keys were searched.
  expect(before.redis).toEqual([]);
  expect((await Promise.all(ids.map(redisKeysWith))).flat().length).toBeGreaterThan(0);
  expect(before.dump).toBeGreaterThan(10);
  expect(before.bytes.length).toBeGreaterThan(0);
  expect(before.openUploads).toBe(2);
  expect(before.objects).toEqual([]);
  expect(before.archived).toBeGreaterThan(3);

  const path = '/platform/v1/erasures';
  const wrong = await client.call('POST', path, { json: { subject: 'account', confirm: 'yes' } });
  expect([wrong.status, wrong.text.includes(`erase account ${id}`)]).toEqual([422, true]);
  const confirmed = { subject: 'account', confirm: `erase account ${id}` };
  const { status, body } = await client.call<{ id: string; state: string }>('POST', path, { json: confirmed });
  expect([status, body.state]).toEqual([202, 'requested']);
  // Closed at once: its keys let nobody in, and it is not opened again.
  await eventually('its key to end', async () => (await client.call('GET', '/platform/v1/account')).status === 401);
  await expect(stack.admin('PATCH', `/accounts/${id}`, { status: 'active' })).rejects.toThrow('closed');
  await expect(stack.admin('POST', `/accounts/${id}/api-keys`, { name: 'again' })).rejects.toThrow('404');

  const done = await eventually(
    'the erasure to be done',
    async () => {
      const erasure = await stack.admin<{ state: string; counts: Record<string, number> }>(
        'GET',
        `/erasures/${body.id}`,
      );
      return erasure.state === 'done' ? erasure : null;
    },
    180_000,
  );
  expect(done.counts).toMatchObject({ jobs: 5, models: 1, uploads: expect.any(Number) as number });
  expect(await places()).toEqual(NOWHERE);

  expect(await tablesWith(stack.test.url, TOKEN, ...ids)).toEqual(KEPT);
  // The books are whole, under the account's id.
  const credits = await stack.admin<{ available_micros: number; held_micros: number }>(
    'GET',
    `/accounts/${id}/credits`,
  );
  expect(credits.held_micros).toBe(0);
  expect(await stack.admin('GET', '/audit')).toMatchObject({ ok: true });
  const log = await stack.admin<{ entries: { action: string; actor: string }[] }>(
    'GET',
    `/audit-log?account_id=${id}&limit=100`,
  );
  expect(log.entries.map(({ action }) => action)).toContain('erasure.request');
});
