import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import {
  createTestDatabase,
  createTestFolder,
  eventually,
  type TestDatabase,
  type TestFolder,
} from '@millrace/testing';

/** `scripts/migrate.mjs` with the migrations of a folder. */
const PROGRAM = `
  import { runCommand } from '${pathToFileURL('scripts/lib/command/index.mjs').href}';
  import { migrate } from '${pathToFileURL('scripts/lib/prisma/index.mjs').href}';
  await runCommand((scope) => migrate(scope, process.env.DATABASE_URL, process.env.FOLDER));
`;
const NAME = '29990101000000_next';
const INDEX = 'CREATE INDEX CONCURRENTLY jobs_next_idx ON jobs (id, status);';
/** What it does twice if it is done twice. A lock that the test holds stops it half-way. */
const SCRIPT = `
  UPDATE steps SET count = count + 1; -- one; two
  SELECT pg_advisory_lock(1);
  CREATE TABLE next_things (id int);
`;

let test: TestDatabase;
let folder: TestFolder;
let client: pg.Client;
beforeEach(async () => {
  test = await createTestDatabase();
  folder = await createTestFolder();
  client = new pg.Client({ connectionString: test.url });
  await client.connect();
  await client.query('CREATE TABLE steps (count int NOT NULL); INSERT INTO steps VALUES (0)');
});
afterEach(async () => {
  await client.end();
  await test.drop();
  await folder.drop();
});

function write(sql: string): void {
  mkdirSync(join(folder.path, NAME), { recursive: true });
  writeFileSync(join(folder.path, NAME, 'migration.sql'), sql);
}

interface Run {
  output: () => string;
  /** What it waits for is known by then. */
  waiting: () => Promise<void>;
  kill: (signal: NodeJS.Signals) => void;
  /** The exit code. */
  ended: Promise<number | null>;
}

function start(): Run {
  const env = { ...process.env, DATABASE_URL: test.url, FOLDER: folder.path };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const pid = async (): Promise<number> => (await rows<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid ?? 0;
  return {
    output: () => output,
    waiting: async () => {
      const words = `${NAME}: waits for process ${await pid()} of PostgreSQL`;
      await eventually('the migration to wait for the test', () => output.includes(words));
    },
    kill: (signal) => child.kill(signal),
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

async function rows<T>(sql: string): Promise<T[]> {
  return (await client.query(sql)).rows as T[];
}
const history = (): Promise<unknown[]> =>
  rows(`SELECT finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS undone FROM _prisma_migrations
         WHERE migration_name = '${NAME}' ORDER BY started_at`);
const index = (): Promise<unknown[]> =>
  rows(`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('jobs_next_idx')`);
const sessions = (): Promise<unknown[]> =>
  rows(`SELECT FROM pg_stat_activity WHERE application_name = 'millrace-migrate' AND datname = current_database()`);

const APPLIED = [{ finished: true, undone: false }];

describe('a migration that waits for a lock', () => {
  it('lets others at the table meanwhile, says whom it waits for, and is done when that is over', async () => {
    write('ALTER TABLE jobs ADD COLUMN next_note text; UPDATE steps SET count = count + 1');
    await client.query('BEGIN; SELECT FROM jobs');
    const run = start();
    await run.waiting();
    // Behind a statement that waits for as long as it takes, this would wait as long.
    expect(await test.database.models.job.count()).toBe(0);
    await eventually('the migration to let others go first', () => run.output().includes('lets others go first'));
    await client.query('COMMIT');
    expect(await run.ended).toBe(0);
    expect(await rows('SELECT next_note FROM jobs')).toEqual([]);
    expect(await rows('SELECT count FROM steps')).toEqual([{ count: 1 }]);
    expect(await history()).toEqual(APPLIED);
  });
});

describe('a migration that takes longer than a statement of its role may', () => {
  it('is done all the same', async () => {
    await client.query(
      `ALTER DATABASE ${client.escapeIdentifier(client.database ?? '')} SET statement_timeout = '50ms'`,
    );
    write('SELECT pg_sleep(0.2); CREATE TABLE next_things (id int)');
    const run = start();
    expect({ code: await run.ended, output: run.output() }).toEqual({ code: 0, output: '' });
    expect(await history()).toEqual(APPLIED);
  });
});

describe('a migration on a server in another time zone', () => {
  it('has the days of UTC', async () => {
    write(`CREATE TABLE next_days AS SELECT timestamptz '2026-11-21' AS day`);
    expect(await start().ended).toBe(0);
    expect(await rows(`SELECT day = '2026-11-21T00:00:00Z' AS is_utc FROM next_days`)).toEqual([{ is_utc: true }]);
  });
});

describe('a migration by which processes can start', () => {
  const LATER = '29990102000000_later';
  const MAKE_ROLE = `DO $$ BEGIN CREATE ROLE millrace_maintenance NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`;

  it('has given them their rights by then, to what there is: a later one may take long, or make the rest', async () => {
    await client.query(MAKE_ROLE);
    await client.query(`
      REVOKE ALL ON ALL TABLES IN SCHEMA public FROM millrace_maintenance;
      ALTER TABLE mail_messages RENAME TO later_messages;
      ALTER TABLE api_keys RENAME spend_keys TO later_keys;
      ALTER TABLE members RENAME email TO later_email`);
    write('UPDATE steps SET count = count + 1');
    mkdirSync(join(folder.path, LATER), { recursive: true });
    const later = `SELECT pg_advisory_lock(1); ALTER TABLE later_messages RENAME TO mail_messages;
      ALTER TABLE api_keys RENAME later_keys TO spend_keys; ALTER TABLE members RENAME later_email TO email`;
    writeFileSync(join(folder.path, LATER, 'migration.sql'), later);
    await client.query('SELECT pg_advisory_lock(1)');
    const run = start();
    await eventually('the later one to wait', () => run.output().includes(`${LATER}: waits for process`));
    expect(await history()).toEqual(APPLIED);
    const rights = (column: string): Promise<unknown[]> =>
      rows(`SELECT has_table_privilege('millrace_maintenance', 'job_count_progress', 'SELECT, INSERT') AS counts,
        has_column_privilege('millrace_maintenance', 'api_keys', 'name', 'SELECT') AS names,
        has_column_privilege('millrace_maintenance', 'api_keys', '${column}', 'SELECT') AS keys,
        has_table_privilege('millrace_maintenance', 'members', 'SELECT') AS members`);
    expect(await rights('later_keys')).toEqual([{ counts: true, names: true, keys: false, members: true }]);
    await client.query('SELECT pg_advisory_unlock(1)');
    expect({ code: await run.ended, output: run.output().includes('failed') }).toEqual({ code: 0, output: false });
    expect(await rights('spend_keys')).toEqual([{ counts: true, names: true, keys: true, members: true }]);
  });
});

describe('a migration that was cut off in the middle', () => {
  it.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])(
    'of a script, by %s, is done once by the next run',
    async (signal) => {
      write(SCRIPT);
      await client.query('SELECT pg_advisory_lock(1)');
      const first = start();
      await first.waiting();
      first.kill(signal);
      await first.ended;
      const second = start();
      await second.waiting();
      await client.query('SELECT pg_advisory_unlock(1)');
      expect(await second.ended).toBe(0);
      expect(await rows('SELECT count FROM steps')).toEqual([{ count: 1 }]);
      expect(await history()).toEqual(APPLIED);
    },
  );

  it('of an index, by SIGTERM, leaves nothing running, and the next run builds the index again', async () => {
    write(INDEX);
    await client.query('BEGIN; LOCK TABLE jobs IN ROW EXCLUSIVE MODE');
    const first = start();
    await first.waiting();
    first.kill('SIGTERM');
    expect(await first.ended).not.toBe(0);
    await client.query('COMMIT');
    await eventually('its session to be over', async () => (await sessions()).length === 0);
    expect(await index()).toEqual([{ valid: false }]);
    expect(await start().ended).toBe(0);
    expect(await index()).toEqual([{ valid: true }]);
    expect(await history()).toEqual(APPLIED);
  });

  it('of an index, by SIGKILL, is awaited by the next run, which finds it done', async () => {
    write(INDEX);
    await client.query('BEGIN; LOCK TABLE jobs IN ROW EXCLUSIVE MODE');
    const first = start();
    await first.waiting();
    first.kill('SIGKILL');
    await first.ended;
    const second = start();
    await eventually('the next run to wait', () => second.output().includes('Another session migrates this database'));
    await client.query('COMMIT');
    expect(await second.ended).toBe(0);
    expect(await index()).toEqual([{ valid: true }]);
    expect(await history()).toEqual(APPLIED);
  });
});

describe('a migration that the server refuses', () => {
  it('is named with the server’s words, leaves nothing behind, and is done when it is mended', async () => {
    write('UPDATE steps SET count = count + 1; CREATE TABEL next_things (id int)');
    const run = start();
    expect(await run.ended).toBe(1);
    expect(run.output()).toBe(`The migration ${NAME} failed: syntax error at or near "TABEL".\n`);
    expect(await rows('SELECT count FROM steps')).toEqual([{ count: 0 }]);
    write('UPDATE steps SET count = count + 1');
    expect(await start().ended).toBe(0);
    expect(await rows('SELECT count FROM steps')).toEqual([{ count: 1 }]);
    expect(await history()).toEqual(APPLIED);
  });
});

describe('a migration that Prisma’s command line began', () => {
  const begun = (logs: string | null): Promise<unknown> =>
    client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs) VALUES ('begun', 'a', '${NAME}', $1)`,
      [logs],
    );
  const UNDONE = { finished: false, undone: true };

  it('and the server refused is done', async () => {
    write('UPDATE steps SET count = count + 1');
    await begun('canceling statement due to statement timeout');
    expect(await start().ended).toBe(0);
    expect(await history()).toEqual([UNDONE, ...APPLIED]);
  });

  it('of an index is done', async () => {
    write(INDEX);
    await begun(null);
    expect(await start().ended).toBe(0);
    expect(await history()).toEqual([UNDONE, ...APPLIED]);
  });

  it('and did not end is for an operator to look at: the sentence has the statements that write down what they saw', async () => {
    write('UPDATE steps SET count = count + 1');
    await begun(null);
    const run = start();
    expect(await run.ended).toBe(1);
    const cure = /UPDATE _prisma_migrations [^;]+;/.exec(run.output())?.[0] ?? '';
    await client.query(cure.replace('finished_at', 'rolled_back_at'));
    expect(await start().ended).toBe(0);
    expect(await rows('SELECT count FROM steps')).toEqual([{ count: 1 }]);
    expect(await history()).toEqual([UNDONE, ...APPLIED]);
  });
});
