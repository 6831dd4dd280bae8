import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Prisma } from '@prisma/client';
import { TestStack, eventually, testS3, type TestProcess } from '@millrace/testing';

const { endpoint, region, accessKeyId, secretAccessKey } = testS3();
const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });
const LOCKING = `millrace-${randomUUID()}`;
const PLAIN = `millrace-${randomUUID()}`;
const LIMIT_MS = 300_000;

let stack: TestStack;
let accountId: string;
beforeAll(async () => {
  await s3.send(new CreateBucketCommand({ Bucket: LOCKING, ObjectLockEnabledForBucket: true }));
  await s3.send(new CreateBucketCommand({ Bucket: PLAIN }));
  stack = await TestStack.start({
    workers: 0,
    settings: {
      MILLRACE_AUDIT_BUCKET: LOCKING,
      MILLRACE_AUDIT_LOCK_DAYS: '1',
      S3_ENDPOINT: endpoint,
      S3_REGION: region,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
  });
  ({ id: accountId } = await stack.createAccount(5_000_000));
});
afterAll(async () => {
  await stack.stop();
  s3.destroy();
});

const seal = (): Promise<number> => stack.test.database.execute(Prisma.sql`SELECT seal_audit_log(1000, 0)`);
const isExported = async (): Promise<boolean> =>
  (await stack.test.database.models.auditSegment.count({ where: { exportedAt: null } })) === 0;
const keysIn = async (bucket: string): Promise<string[]> => {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key = '' }) => Key);
};

/** `npm run audit`, as an operator types it. */
async function audit(...flags: string[]): Promise<{ code: number; output: string }> {
  const script = join(process.cwd(), 'scripts', 'audit.mjs');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [script, ...flags],
      { env: { ...process.env, ...stack.env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
      },
    );
  });
}
/** What `GET /admin/v1/audit` finds of the log. */
async function found(): Promise<string[]> {
  const { findings } = await stack.admin<{ findings: { audit: string; subject: string; detail: string }[] }>(
    'GET',
    '/audit',
  );
  return findings.flatMap(({ audit: of, subject, detail }) => (of === 'audit log' ? [`${subject} ${detail}`] : []));
}

it(
  'acts of operators are in a bucket from which nobody can take them, and npm run audit verifies both',
  async () => {
    await seal();
    await eventually('the segment to be exported', isExported, 60_000);
    const [Key = ''] = await keysIn(LOCKING);
    expect(Key).toMatch(/^audit-log\/000000000001-[\da-f]{64}\.ndjson$/);
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: LOCKING, Key }));
    const lines = ((await Body?.transformToString()) ?? '').trim().split('\n');
    const [head, ...entries] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(head).toMatchObject({ format: 'millrace-audit-segment-1', no: '1', entries: entries.length });
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['account.create', 'credits.adjust', 'api_key.create']),
    );
    // Why credits were given is not in clear.
    expect(lines.join('\n')).not.toContain('to be spent');
    await expect(s3.send(new DeleteObjectCommand({ Bucket: LOCKING, Key }))).rejects.toMatchObject({
      name: 'AccessDenied',
    });

    const { code, output } = await audit('--archive');
    expect(output).toContain(`✓ audit log: 1 segments, ${entries.length} entries, 0 struck out, 1 compared`);
    expect([code, await found()]).toEqual([0, []]);
    const shown = await audit('--segment', '1');
    expect(shown.output).toContain('"amountMicros":5000000');
  },
  LIMIT_MS,
);

it(
  'what the owner of the database changes is named, also where all hashes were made again',
  async () => {
    const { database } = stack.test;
    const asOwner = async (sql: Prisma.Sql): Promise<void> => {
      for (const table of ['audit_log', 'audit_segments']) {
        await database.execute(Prisma.raw(`ALTER TABLE ${table} DISABLE TRIGGER USER`));
      }
      await database.execute(sql);
      for (const table of ['audit_log', 'audit_segments']) {
        await database.execute(Prisma.raw(`ALTER TABLE ${table} ENABLE TRIGGER USER`));
      }
    };
    const [row] = await database.rows<{ id: string }>(
      Prisma.sql`SELECT id FROM audit_log WHERE action = 'credits.adjust' AND account_id = ${accountId}::uuid`,
    );
    const id = row?.id ?? '';
    await asOwner(Prisma.sql`UPDATE audit_log SET actor = 'operator:nobody' WHERE id = ${id}::uuid`);
    expect(await found()).toEqual([
      `entry ${id} of segment 1 is not what was sealed: who did what, to whom, when, or from where, was changed`,
    ]);
    const { code, output } = await audit();
    expect([code, output.includes(`entry ${id} of segment 1`)]).toEqual([1, true]);

    await asOwner(Prisma.sql`UPDATE audit_log SET segment = NULL, salt = NULL, content_digest = NULL, digest = NULL`);
    await asOwner(Prisma.sql`DELETE FROM audit_segments`);
    await seal();
    const lines = await found();
    expect(lines[0]).toContain('segment 1 is another one in the bucket');
    expect(lines).toContain(`entry ${id} of segment 1 is another one in the bucket`);
  },
  LIMIT_MS,
);

it(
  'a bucket that does not lock gets nothing, the process says why, and nothing is lost',
  async () => {
    await stack.maintenance.end();
    const plain = { MILLRACE_AUDIT_BUCKET: PLAIN, MILLRACE_AUDIT_PREFIX: 'after/' };
    const refused: TestProcess = await stack.spawn('maintenance', plain);
    const why = `The bucket ${PLAIN}: It has no Object Lock, so nothing is written. Name one that has.`;
    await eventually('the process to say why', () => refused.lines.some((line) => line.includes(why)), 60_000);
    const metrics = await (await fetch(`${refused.opsUrl}/metrics`)).text();
    expect(metrics).toMatch(/millrace_loop_runs_total\{loop="export-audit-log",outcome="failed"[^}]*\} [1-9]/);
    await eventually(
      'how long it waits to be shown',
      async () => {
        const shown = await (await fetch(`${refused.opsUrl}/metrics`)).text();
        return /millrace_audit_log_waiting_seconds\{step="export"[^}]*\} [\d.]+/.test(shown);
      },
      60_000,
    );
    expect(await keysIn(PLAIN)).toEqual([]);
    await refused.end();
    await stack.spawn('maintenance', { ...plain, MILLRACE_AUDIT_LOCK_DAYS: '0' });
    await eventually('the segment to be exported', isExported, 60_000);
    expect(await keysIn(PLAIN)).toHaveLength(1);
  },
  LIMIT_MS,
);
