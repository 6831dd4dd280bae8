import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Prisma } from '@prisma/client';
import pg from 'pg';
import { Database } from '@millrace/database';
import {
  TestStack,
  createTestDatabase,
  createTestFolder,
  eventually,
  testBilling,
  makeAccount,
  type TestDatabase,
  type TestFolder,
} from '@millrace/testing';
import { Scope } from '../../scripts/lib/command/scope.mjs';
import { freePort } from '../../scripts/lib/system/ports.mjs';
import { pgbouncerProgram } from '../../scripts/lib/testing/debian-program.mjs';

const LIMIT_MS = 300_000;
const NOBODY = 65_534;
const MODES = ['session', 'transaction'] as const;
type Mode = (typeof MODES)[number];
/** A role of the server for each run: settings of a role belong to the whole server. */
const ROLE = `pooled_${process.pid}`;
const PASSWORD = 'of-a-test';

let folder: TestFolder;
let test: TestDatabase;
const poolers = new Map<Mode, { port: number; process: ChildProcess }>();

/** PgBouncer keeps prepared statements since 1.21, and Debian 12 has an older one. */
let keepsStatements: boolean;

/** Fewer connections to the server than a process has to the pooler, so that they are lent all the time. */
const configOf = (dir: string, mode: Mode, port: number, server: URL): string => `
[databases]
* = host=${server.hostname} port=${server.port} user=${ROLE} password=${PASSWORD}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${mode === 'transaction' ? 3 : 50}
${keepsStatements ? 'max_prepared_statements = 200' : ''}
logfile = ${dir}/log
pidfile = ${dir}/pid
`;

interface Program {
  program: string;
  env: Record<string, string>;
}

async function isSince121({ program, env }: Program): Promise<boolean> {
  const { stdout } = await promisify(execFile)(program, ['--version'], { env: { ...process.env, ...env } });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

async function startPooler({ program, env }: Program, mode: Mode, server: URL): Promise<void> {
  const port = await freePort();
  const dir = join(folder.path, mode);
  mkdirSync(dir);
  // PgBouncer refuses to run as root.
  chmodSync(dir, 0o777);
  writeFileSync(join(dir, 'ini'), configOf(dir, mode, port, server));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, [join(dir, 'ini')], { stdio: 'ignore', env: { ...process.env, ...env }, ...user });
  poolers.set(mode, { port, process: child });
  const at = pooled(mode, test.url);
  await eventually(`the ${mode} pooler answers`, async () => {
    const client = new pg.Client({ connectionString: at });
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  });
}

function pooled(mode: Mode, database: string): string {
  const url = new URL(database);
  url.hostname = '127.0.0.1';
  url.port = String(poolers.get(mode)?.port);
  return url.href;
}

/** Longer than a statement takes on a busy machine. Many at once wait for a connection much longer. */
const TIMEOUT_MS = 5_000;
const LONG_MS = 60_000;

const settings = (mode: Mode, databaseTimeoutMs = LONG_MS): ConstructorParameters<typeof Database>[0] => ({
  databaseUrl: pooled(mode, test.url),
  databaseDirectUrl: test.url,
  databasePoolerMode: mode,
  databasePoolSize: 10,
  databaseTimeoutMs,
});
const setRoleTimeout = (ms: number): Promise<number> =>
  test.database.execute(
    Prisma.raw(`DO $$ BEGIN ALTER ROLE ${ROLE} SET statement_timeout = ${ms};
      ALTER ROLE ${ROLE} SET idle_in_transaction_session_timeout = ${ms}; END $$`),
  );

async function withDatabase<T>(mode: Mode, work: (database: Database) => Promise<T>, timeoutMs = LONG_MS): Promise<T> {
  const database = new Database(settings(mode, timeoutMs), 'pooled-test');
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

beforeAll(async () => {
  folder = await createTestFolder();
  chmodSync(folder.path, 0o755);
  test = await createTestDatabase();
  await test.database.execute(Prisma.raw(`CREATE ROLE ${ROLE} LOGIN SUPERUSER PASSWORD '${PASSWORD}'`));
  await setRoleTimeout(TIMEOUT_MS);
  await test.database.execute(Prisma.raw(`ALTER ROLE ${ROLE} SET timezone = 'UTC'`));
  const program = await pgbouncerProgram(new Scope());
  keepsStatements = await isSince121(program);
  for (const mode of MODES) await startPooler(program, mode, new URL(test.url));
});

afterAll(async () => {
  for (const { process: child } of poolers.values()) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await test.database.execute(Prisma.raw(`DROP ROLE ${ROLE}`));
  await test.drop();
  await folder.drop();
});

describe.each(MODES)('a process behind a pooler in %s mode', (mode) => {
  it('runs statements and transactions, many at once, again and again', async () => {
    await withDatabase(mode, async (database) => {
      const accountIds = await Promise.all(Array.from({ length: 20 }, () => makeAccount(database, { micros: 5n })));
      const { credits } = testBilling(database);
      const balances = await Promise.all(accountIds.map((accountId) => credits.balance(accountId)));
      expect(balances.map(({ availableMicros }) => availableMicros)).toEqual(accountIds.map(() => 5n));
    });
  });

  it('has its statements ended in time', async () => {
    const sleep = async (database: Database): Promise<void> => {
      const slow = database.query(Prisma.sql`SELECT pg_sleep(20)`);
      await expect(slow).rejects.toMatchObject({ code: '57014' });
    };
    await withDatabase(mode, sleep, TIMEOUT_MS);
  });

  it('holds its locks against all others', async () => {
    await withDatabase(mode, (one) =>
      withDatabase(mode, async (other) => {
        const inner = await one.withLock('chore', () => other.withLock('chore', async () => 'both'));
        expect(inner).toBeNull();
        expect(await other.withLock('chore', async () => 'free again')).toBe('free again');
      }),
    );
  });
});

it('a process behind a transaction pooler has statements prepared where the pooler keeps them, and nowhere else', async () => {
  await withDatabase('transaction', async (database) => {
    // What is asked before there is a connection is not prepared.
    await database.ping();
    const sums = await Promise.all(
      Array.from({ length: 200 }, (_, n) => database.query(Prisma.sql`SELECT ${n}::int + 1 AS sum, 'kept' AS mark`)),
    );
    expect(sums.map(([row]) => row)).toEqual(Array.from({ length: 200 }, (_, n) => ({ sum: n + 1, mark: 'kept' })));
    const [prepared] = await database.query<{ kept: number; ours: number }>(Prisma.sql`
      SELECT count(*) FILTER (WHERE statement LIKE '%AS mark')::int AS kept, count(*) FILTER (WHERE name LIKE 'probe-%')::int AS ours
      FROM pg_prepared_statements`);
    expect(prepared).toEqual({ kept: keepsStatements ? 1 : 0, ours: 0 });
  });
});

it('a process behind a transaction pooler refuses to work without the timeouts of its role', async () => {
  // Straight to the server: a pooler keeps connections that still have what the role had.
  const bare = new URL(test.url);
  Object.assign(bare, { username: ROLE, password: PASSWORD });
  await setRoleTimeout(0);
  try {
    const database = new Database({ ...settings('transaction'), databaseUrl: bare.href }, 'pooled-test');
    await expect(database.ping()).rejects.toThrow(`ALTER ROLE "${ROLE}" SET statement_timeout`);
    await database.close();
  } finally {
    await setRoleTimeout(TIMEOUT_MS);
  }
});

it(
  'the whole service runs a job behind a transaction pooler',
  async () => {
    await setRoleTimeout(15_000);
    const stack = await TestStack.start({
      databaseAt: (url) => ({
        DATABASE_URL: pooled('transaction', url),
        MILLRACE_DATABASE_DIRECT_URL: url,
        MILLRACE_DATABASE_POOLER_MODE: 'transaction',
      }),
    });
    try {
      const { apiKey } = await stack.createAccount();
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
      const workflow = {
        1: { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
        2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'pooled' } },
      };
      const submitted = await fetch(`${stack.publicUrl}/api/v2/jobs`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ workflow }),
      });
      const job = (await submitted.json()) as { id: string };
      await eventually('the job succeeds', async () => {
        const read = await fetch(`${stack.publicUrl}/api/v2/jobs/${job.id}`, { headers });
        return ((await read.json()) as { status: string }).status === 'succeeded';
      });
    } finally {
      await stack.stop();
    }
  },
  LIMIT_MS,
);
