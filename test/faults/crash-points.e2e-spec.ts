import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Prisma } from '@prisma/client';
import { JobAudit } from '@millrace/jobs';
import { CRASH_POINTS, type CrashPoint, type Finding } from '@millrace/platform';
import { ApiClient, TestStack, eventually, testS3, type TestProcess } from '@millrace/testing';

const KILLED = 137;
const WORKER_POINTS = [
  'claim:before-commit',
  'claim:after-commit',
  'output:after-bytes',
  'output:after-record',
  'finish:before-commit',
  'finish:after-commit',
] as const;
const RETRY_POINT = 'retry:after-commit';
const SUBMIT_POINTS = ['submission:before-commit', 'submission:after-commit'] as const;
const DISPATCH_POINT = 'dispatch:before-lane';
const ARCHIVE_POINT = 'archive:after-object';
const LIMIT_MS = 300_000;

/** Two outputs: the first is recorded by itself, the last with the end of its job. */
const growing = (steps: number): object => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 128, height: 128, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
  '3': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown too' } },
});
const quick = growing(5);
/** The picture is smaller than the blur. */
const failing = {
  '1': { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 1 } },
  '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 20, sigma: 1 } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'blurred' } },
};

let stack: TestStack;
let client: ApiClient;
let apiKey: string;
const doomed = new Map<CrashPoint, TestProcess>();
/** Jobs that were acknowledged, and what each must come to. */
const accepted = new Map<string, string>();

async function doom(role: 'api' | 'worker' | 'maintenance', point: CrashPoint): Promise<void> {
  const settings = { MILLRACE_CRASH_POINT: point };
  doomed.set(point, await (role === 'worker' ? stack.addWorker(settings) : stack.spawn(role, settings)));
}

const hasDied = (point: CrashPoint): boolean => doomed.get(point)?.exitCode === KILLED;
const clientOf = (point: CrashPoint): ApiClient => new ApiClient(doomed.get(point)?.publicUrl ?? '', apiKey);

/** An answer that may never come, because the process that was asked dies. */
async function tryToSubmit(point: CrashPoint, key: string): Promise<void> {
  const text = JSON.stringify({ workflow: quick });
  const answer = await clientOf(point)
    .submit(text, { 'Idempotency-Key': key })
    .catch(() => null);
  if (answer?.status === 201) accepted.set(answer.body.id, 'succeeded');
}

async function crashApis(): Promise<void> {
  const points: CrashPoint[] = [...SUBMIT_POINTS, DISPATCH_POINT, 'cancel:after-request'];
  await Promise.all(points.map((point) => doom('api', point)));
  for (const point of SUBMIT_POINTS) await tryToSubmit(point, point);
  // Another process may dispatch a job first, so there may have to be more than one.
  for (let n = 0; !hasDied(DISPATCH_POINT) && n < 10; n += 1) {
    await tryToSubmit(DISPATCH_POINT, `${DISPATCH_POINT}-${n}`);
    await eventually('the job to be dispatched', () => hasDied(DISPATCH_POINT) || noneWaiting());
  }
  const { id } = await client.run(growing(100_000));
  accepted.set(id, 'canceled');
  await eventually('the job to run', async () => (await client.job(id)).status === 'running', 60_000);
  await clientOf('cancel:after-request')
    .call('POST', `/api/v2/jobs/${id}/cancel`)
    .catch(() => null);
  await client.ended(id);
}

/** The worker dies when it has recorded that a failed job is tried again; another one runs it. */
async function crashInRetry(): Promise<void> {
  await Promise.all(stack.workers.map((running) => running.end()));
  await doom('worker', RETRY_POINT);
  const { body } = await client.submit(JSON.stringify({ workflow: failing }), {
    'Millrace-Retry': 'max=1, on=(node_execution_error), pause=0',
  });
  accepted.set(body.id, 'failed');
  await eventually('the worker to die', () => hasDied(RETRY_POINT), 60_000);
  await stack.addWorker();
}

async function noneWaiting(): Promise<boolean> {
  const [row] = await stack.test.database.query<{ count: bigint }>(
    Prisma.sql`SELECT count(*) FROM jobs WHERE delivery = 'waiting'`,
  );
  return row?.count === 0n;
}

async function crashWorkers(): Promise<void> {
  await Promise.all([...stack.workers, stack.maintenance].map((running) => running.end()));
  await Promise.all([
    ...WORKER_POINTS.map((point) => doom('worker', point)),
    doom('maintenance', 'rescue:after-take-back'),
  ]);
  for (let n = 0; n < WORKER_POINTS.length + 2; n += 1) accepted.set((await client.run(quick)).id, 'succeeded');
  await eventually('a job to be taken back', () => hasDied('rescue:after-take-back'), 60_000);
  stack.maintenance = await stack.spawn('maintenance');
  await eventually('every worker to die', () => WORKER_POINTS.every(hasDied), 90_000);
  await stack.addWorker();
}

/** Maintenance dies when a segment of the audit log is in the bucket, and before that is noted. */
async function crashArchive(): Promise<void> {
  await stack.maintenance.end();
  await stack.test.database.execute(Prisma.sql`SELECT seal_audit_log(1000, 0)`);
  await doom('maintenance', ARCHIVE_POINT);
  await eventually('maintenance to die', () => hasDied(ARCHIVE_POINT), 60_000);
  stack.maintenance = await stack.spawn('maintenance');
}

/** A bucket in which an object is locked: it can be written once. @returns the settings. */
async function makeArchive(): Promise<Record<string, string>> {
  const { endpoint, region, accessKeyId, secretAccessKey } = testS3();
  const bucket = `millrace-${randomUUID()}`;
  const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: true }));
  s3.destroy();
  return {
    MILLRACE_AUDIT_BUCKET: bucket,
    MILLRACE_AUDIT_LOCK_DAYS: '1',
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

beforeAll(async () => {
  const settings = { MILLRACE_LEASE_SECONDS: '2', MILLRACE_MAX_ATTEMPTS: '50', ...(await makeArchive()) };
  stack = await TestStack.start({ settings });
  ({ apiKey } = await stack.createAccount());
  client = new ApiClient(stack.publicUrl, apiKey);
  await crashArchive();
  await crashInRetry();
  await crashApis();
  await crashWorkers();
}, LIMIT_MS);
afterAll(() => stack.stop());

describe('a process that dies', () => {
  it.each(CRASH_POINTS)('at %s did so', (point) => {
    expect(doomed.get(point)?.exitCode).toBe(KILLED);
    expect(doomed.get(point)?.lines).toContain(`crash point ${point}`);
  });

  it('before a submission commits leaves the key free; after it, the job', async () => {
    const again = (point: CrashPoint): ReturnType<ApiClient['submit']> =>
      client.submit(JSON.stringify({ workflow: quick }), { 'Idempotency-Key': point });
    const free = await again('submission:before-commit');
    expect(free.status).toBe(201);
    accepted.set(free.body.id, 'succeeded');
    expect(await again('submission:after-commit')).toMatchObject({
      body: { error: { code: 'idempotency_key_reuse' } },
    });
  });

  it('between an object and the note of it leaves the object, and the next process notes it', async () => {
    await eventually('the segment to be noted', async () => {
      return (await stack.test.database.models.auditSegment.count({ where: { exportedAt: null } })) === 0;
    });
    const { findings } = await stack.admin<{ findings: { audit: string }[] }>('GET', '/audit');
    expect(findings.filter(({ audit }) => audit === 'audit log')).toEqual([]);
  });

  it(
    'anywhere is made up for: every job comes to its end, once',
    async () => {
      await eventually('every job to end', () => allEnded(), 90_000);
      for (const [id, status] of accepted) expect(await client.job(id)).toMatchObject({ id, status });
      const findings: Finding[] = [];
      for await (const finding of new JobAudit(stack.test.database).findings()) {
        findings.push(finding);
      }
      expect(findings).toEqual([]);
    },
    LIMIT_MS,
  );
});

async function allEnded(): Promise<boolean> {
  const [row] = await stack.test.database.query<{ count: bigint }>(
    Prisma.sql`SELECT count(*) FROM jobs WHERE delivery <> 'done'`,
  );
  return row?.count === 0n;
}
