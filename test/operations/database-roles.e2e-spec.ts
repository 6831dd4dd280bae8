import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type pg from 'pg';
import { newId } from '@millrace/contracts';
import {
  ApiClient,
  TestStack,
  createTestDatabase,
  eventually,
  testS3,
  type ProcessRole,
  type TestDatabase,
} from '@millrace/testing';
import { OWNER_FUNCTIONS, RIGHTS, ROLES, grantRights } from '../../scripts/lib/prisma/database-rights.mjs';
import { onDatabase } from '../../scripts/lib/prisma/on-database.mjs';
import { TestMails } from '../console/support/test-mails';

const LIMIT_MS = 300_000;
const PASSWORD = 'of-a-test';
const PROCESSES: ProcessRole[] = ['api', 'worker', 'maintenance', 'gateway'];
/** Users belong to the whole server: those of this run. */
const userOf = (role: ProcessRole): string => `${role}_of_${process.pid}`;

const mails = new TestMails();
let test: TestDatabase;
const asUser = (url: string, role: ProcessRole): string =>
  Object.assign(new URL(url), { username: userOf(role), password: PASSWORD }).href;

/** As an operator makes them, once for each server. Another run may make the roles at the same moment. */
async function makeUsers(client: pg.Client): Promise<void> {
  for (const role of PROCESSES) {
    await client.query(`DO $$ BEGIN CREATE ROLE millrace_${role} NOLOGIN;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
    await client.query(`CREATE ROLE ${userOf(role)} LOGIN PASSWORD '${PASSWORD}' IN ROLE millrace_${role}`);
  }
}

beforeAll(async () => {
  test = await createTestDatabase();
  await onDatabase(test.url, makeUsers);
  expect(await onDatabase(test.url, grantRights)).toEqual(ROLES);
});
afterAll(async () => {
  await onDatabase(test.url, async (client) => {
    for (const role of PROCESSES) await client.query(`DROP ROLE ${userOf(role)}`);
  });
  await test.drop();
});

it('where gateways have no role of their own, workers keep the right that gateways need', async () => {
  const statementsFor = async (roles: string[]): Promise<string> => {
    const query = jest.fn().mockResolvedValue({ rows: roles.map((rolname) => ({ rolname })) });
    await grantRights({ query } as unknown as pg.Client);
    return String(query.mock.lastCall);
  };
  const right = 'ON worker_tokens TO millrace_worker';
  expect(await statementsFor(ROLES)).not.toContain(right);
  expect(await statementsFor(ROLES.filter((role) => role !== 'millrace_gateway'))).toContain(right);
});

it('a restore without privileges lets nobody but their callers call the functions of the owner', async () => {
  const signatures = Object.keys(OWNER_FUNCTIONS);
  const callers = await onDatabase(test.url, async (client) => {
    for (const signature of signatures) await client.query(`GRANT EXECUTE ON FUNCTION ${signature} TO PUBLIC`);
    await grantRights(client);
    const { rows } = await client.query<{ signature: string; role: string }>(
      `SELECT signature, role FROM unnest($1::text[]) AS signature, unnest($2::text[]) AS role
        WHERE has_function_privilege(role, signature, 'EXECUTE')`,
      [signatures, PROCESSES.map(userOf)],
    );
    return rows;
  });
  const expected = PROCESSES.flatMap((process) =>
    signatures
      .filter((signature) => OWNER_FUNCTIONS[signature]?.includes(`millrace_${process}`))
      .map((signature) => ({ signature, role: userOf(process) })),
  );
  expect(callers).toEqual(expect.arrayContaining(expected));
  expect(callers).toHaveLength(expected.length);
});

it('the functions of the owner are those that have their callers, and everybody else may call none', async () => {
  const rows = await onDatabase(test.url, async (client) => {
    const { rows: found } = await client.query<{ signature: string; is_public: boolean }>(`
      SELECT p.oid::regprocedure::text AS signature,
        EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0) AS is_public
      FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef AND p.prorettype <> 'trigger'::regtype`);
    return found;
  });
  expect(rows.map(({ signature }) => signature.replaceAll(',', ', ')).sort()).toEqual(
    Object.keys(OWNER_FUNCTIONS).sort(),
  );
  expect(rows.filter(({ is_public }) => is_public)).toEqual([]);
});

it('every table has its rights', async () => {
  const tables = await onDatabase(test.url, async (client) => {
    const { rows } = await client.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`,
    );
    return rows.map(({ tablename }) => tablename).sort();
  });
  expect(Object.keys(RIGHTS).sort()).toEqual(tables);
});

/** A demo's network that is idle, an entry of the audit log, a place in a rotation and a member's address: each of a life that is over. */
async function plantOldRows(client: pg.Client): Promise<void> {
  await client.query(`
    INSERT INTO pools (id, engine) VALUES ('old', 'cpu');
    INSERT INTO accounts (id, name, kind, updated_at) VALUES (gen_random_uuid(), 'a network', 'demo_network', now() - interval '2 days');
    INSERT INTO accounts (id, name) VALUES (gen_random_uuid(), 'a customer');
    INSERT INTO account_storage (account_id) SELECT id FROM accounts WHERE kind = 'demo_network';
    INSERT INTO account_queues (pool_id, account_id, running_limit) SELECT 'old', id, 1 FROM accounts;
    INSERT INTO members (id, account_id, email, role, removed_at)
    SELECT gen_random_uuid(), id, 'old@example.com', 'viewer', now() - interval '100 days' FROM accounts WHERE name = 'a customer';
    INSERT INTO audit_log (id, at, actor, action, subject_type, subject_id)
    VALUES (gen_random_uuid(), now() - interval '500 days', 'admin', 'account.create', 'account', 'old');
    SELECT seal_audit_log(1, 0);
    INSERT INTO audit_log (id, actor, action, subject_type, subject_id)
    VALUES (gen_random_uuid(), 'admin', 'account.create', 'account', 'young');
    SELECT seal_audit_log(1, 0);
    INSERT INTO audit_log (id, at, actor, action, subject_type, subject_id)
    VALUES (gen_random_uuid(), now() - interval '2 minutes', 'admin', 'account.create', 'account', 'waiting')`);
}
/** Ask again for the erasure of an account, as after a restore, with the user that the page on it names. @returns what was printed. */
async function reapplyErasureOf(accountId: string, stack: TestStack, database: string): Promise<string> {
  const folder = join(String(stack.env['MILLRACE_BLOB_DIR']), 'notes', 'erasures', accountId);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, newId()), JSON.stringify({ subject: 'account', pseudonym: 'erased-1' }));
  const program = join(process.cwd(), 'dist/apps/maintenance/src/reapply-erasures.js');
  const env = { ...stack.env, PATH: process.env.PATH, DATABASE_URL: asUser(database, 'api') };
  return (await promisify(execFile)(process.execPath, [program], { env })).stdout;
}
/** Of the log of acts: what is to be sealed, or to be exported. */
async function waitingActs(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`
    SELECT (SELECT count(*) FROM audit_log WHERE segment IS NULL AND subject_id = 'waiting')
      + (SELECT count(*) FROM audit_segments WHERE exported_at IS NULL) AS count`);
  return Number(rows[0]?.count);
}
async function oldRows(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`
    SELECT (SELECT count(*) FROM accounts WHERE kind = 'demo_network') + (SELECT count(*) FROM audit_log WHERE subject_id = 'old')
      + (SELECT count(*) FROM account_queues WHERE pool_id = 'old')
      + (SELECT count(*) FROM members WHERE email = 'old@example.com') AS count`);
  return Number(rows[0]?.count);
}

it(
  'the whole service runs jobs with a user for each process, which lacks no right that it needs',
  async () => {
    let database = '';
    const { endpoint, region, accessKeyId, secretAccessKey } = testS3();
    const bucket = `millrace-${randomUUID()}`;
    const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    s3.destroy();
    const stack = await TestStack.start({
      settings: {
        ...mails.settings,
        MILLRACE_ERASURE_SETTLE_SECONDS: '0',
        MILLRACE_AUDIT_BUCKET: bucket,
        S3_ENDPOINT: endpoint,
        S3_REGION: region,
        S3_ACCESS_KEY_ID: accessKeyId,
        S3_SECRET_ACCESS_KEY: secretAccessKey,
      },
      prepare: async (url) => {
        await onDatabase(url, grantRights);
        await onDatabase(url, plantOldRows);
        database = url;
      },
      databaseAt: (url, role) => ({ DATABASE_URL: asUser(url, role) }),
    });
    try {
      const account = await stack.createAccount();
      const client = new ApiClient(stack.publicUrl, account.apiKey);
      const drawn = await client.run({
        1: { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 2, color: 0 } },
        2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'drawn' } },
      });
      const done = await client.ended(drawn.id);
      expect(done).toMatchObject({ status: 'succeeded', error: null });
      expect(done.outputs).toHaveLength(2);
      expect((await client.download(done.outputs[0]?.url ?? '')).length).toBe(done.outputs[0]?.size_bytes);
      expect(done.metrics.charged_micros).toBeGreaterThanOrEqual(0);

      const endless = await client.run({
        1: {
          class_type: 'MillraceReactionDiffusion',
          inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
        },
        2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'endless' } },
      });
      await client.call('POST', `/api/v2/jobs/${endless.id}/cancel`);
      expect(await client.ended(endless.id)).toMatchObject({ status: 'canceled' });

      await eventually('acts to be sealed and exported', async () => (await onDatabase(database, waitingActs)) === 0);
      const visitor = new ApiClient(stack.publicUrl, null);
      const enter = async (cookie = '', count = 1): Promise<number> => {
        const [kind = '', token = ''] = (await mails.linkTo('ada@example.com', count)).split('=');
        const call = { json: { [kind]: token }, headers: { Cookie: cookie } };
        return (await visitor.call('POST', '/platform/v1/sessions', call)).status;
      };
      const invited = { json: { email: 'ada@example.com', role: 'viewer' } };
      expect((await client.call('POST', '/platform/v1/invitations', invited)).status).toBe(201);
      expect(await enter()).toBe(201);
      const asked = await visitor.call('POST', '/platform/v1/sessions/mails', { json: { email: 'ada@example.com' } });
      expect(await enter((asked.headers['set-cookie'] ?? '').split(';')[0], 2)).toBe(201);

      await eventually('old rows to be swept', async () => (await onDatabase(database, oldRows)) === 0);
      expect(await stack.admin('GET', '/audit')).toMatchObject({
        findings: [],
        audits: expect.arrayContaining(['audit log']) as string[],
      });
      const { id: erasedId } = await stack.createAccount();
      expect(await reapplyErasureOf(erasedId, stack, database)).toContain('1 asked again, 0 not readable.');
      await eventually('the account to be erased again', async () => {
        const erasure = await stack.test.database.models.erasure.findFirst({ where: { accountId: erasedId } });
        return erasure?.state === 'done';
      });
      const lines = [stack.api, stack.maintenance, ...stack.workers].flatMap((one) => one.lines);
      expect(lines.filter((line) => line.includes('permission denied'))).toEqual([]);
    } finally {
      await stack.stop();
    }
  },
  LIMIT_MS,
);

describe('the user of a process', () => {
  const DENIED = '42501';

  it('gives turns without rights on the table that orders them: in an upgrade it is there before they are', async () => {
    await onDatabase(test.url, async (client) => {
      await client.query('BEGIN; REVOKE ALL ON account_turns FROM millrace_api');
      await client.query(`INSERT INTO pools (id, engine) VALUES ('upgraded', 'cpu')`);
      await client.query(`INSERT INTO accounts (id, name) VALUES (gen_random_uuid(), 'upgraded')`);
      await client.query('SET LOCAL ROLE millrace_api');
      await client.query(`INSERT INTO account_queues (pool_id, account_id, waiting, running_limit)
        SELECT 'upgraded', id, 1, 1 FROM accounts WHERE name = 'upgraded'`);
      await client.query(`UPDATE account_queues SET pass = 5 WHERE pool_id = 'upgraded'`);
      const { rows } = await client.query(`SELECT pass FROM dispatch_turns('upgraded', 1, 1, 1, NULL, NULL, 0)`);
      expect(rows).toEqual([{ pass: '5' }]);
      await client.query('ROLLBACK');
    });
  });

  it.each<[ProcessRole, string]>([
    ...PROCESSES.flatMap((role): [ProcessRole, string][] => [
      [role, 'TRUNCATE audit_log'],
      [role, 'CREATE FUNCTION sweep_audit_log(bigint) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$'],
      [role, `UPDATE audit_log SET actor = 'nobody'`],
      [role, 'DELETE FROM audit_log'],
      [role, 'UPDATE ledger_entries SET amount_micros = 0'],
      [role, 'DELETE FROM ledger_transactions'],
      [role, 'TRUNCATE jobs CASCADE'],
      [role, 'DELETE FROM _prisma_migrations'],
      [role, `UPDATE _prisma_migrations SET migration_name = 'none'`],
      [role, 'DROP TABLE audit_log'],
      [role, 'ALTER TABLE audit_log DISABLE TRIGGER ALL'],
      [role, 'UPDATE audit_log SET segment = NULL, digest = NULL'],
      [
        role,
        `INSERT INTO audit_log (id, actor, action, subject_type, subject_id, segment) VALUES (gen_random_uuid(), '', '', '', '', 1)`,
      ],
      [role, 'DELETE FROM audit_segments'],
      [role, `UPDATE audit_segments SET hash = ''`],
      [role, `INSERT INTO audit_segments DEFAULT VALUES`],
      [role, 'CREATE TABLE made (id int)'],
      [role, 'DELETE FROM account_turns'],
      [role, 'UPDATE account_turns SET pass = 0'],
    ]),
    ['api', 'DELETE FROM jobs'],
    ['api', 'SELECT sweep_audit_log(34560000, 1)'],
    ['api', 'SELECT seal_audit_log(1, 0)'],
    ['api', 'SELECT * FROM read_audit_segment(1)'],
    ['api', `UPDATE audit_segments SET exported_at = now(), object_key = 'a'`],
    ['worker', 'SELECT sweep_audit_log(34560000, 1)'],
    ['worker', 'SELECT seal_audit_log(1, 0)'],
    ['worker', 'SELECT * FROM audit_segments'],
    ['worker', 'SELECT * FROM api_keys'],
    ['worker', 'SELECT * FROM accounts'],
    ['worker', 'SELECT * FROM audit_log'],
    ['worker', 'SELECT * FROM credit_lots'],
    ['worker', 'SELECT * FROM top_ups'],
    ['worker', 'SELECT * FROM payment_events'],
    ['worker', 'SELECT * FROM worker_tokens'],
    ['worker', 'DELETE FROM jobs'],
    ['worker', `INSERT INTO jobs DEFAULT VALUES`],
    ['gateway', 'SELECT sweep_audit_log(34560000, 1)'],
    ['gateway', 'SELECT seal_audit_log(1, 0)'],
    ['gateway', 'SELECT * FROM api_keys'],
    ['gateway', 'SELECT * FROM accounts'],
    ['gateway', 'SELECT * FROM audit_log'],
    ['gateway', 'SELECT * FROM top_ups'],
    ['gateway', 'DELETE FROM jobs'],
    ['gateway', 'INSERT INTO worker_tokens DEFAULT VALUES'],
    ['gateway', 'DELETE FROM worker_tokens'],
    ['maintenance', 'SELECT * FROM api_keys'],
    ['maintenance', 'SELECT key_hash FROM api_keys'],
    ['maintenance', 'UPDATE api_keys SET revoked_at = NULL'],
    ['maintenance', 'DELETE FROM api_keys'],
    ['maintenance', 'UPDATE accounts SET plan = plan'],
    ['maintenance', 'SELECT * FROM audit_log'],
    ['maintenance', 'SELECT details FROM audit_log'],
    ['maintenance', 'SELECT salt FROM audit_log'],
  ])('of the %s may not: %s', async (role, statement) => {
    const refused = onDatabase(asUser(test.url, role), (client) => client.query(statement));
    await expect(refused).rejects.toMatchObject({ code: DENIED });
  });
});
