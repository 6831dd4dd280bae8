import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Database } from '@millrace/database';

/** A database of one test file: a copy of the migrated template, thrown away at the end. */
export interface TestDatabase {
  url: string;
  database: Database;
  drop(): Promise<void>;
}

/** URL of the migrated template database, as the test command provides it. */
function templateUrl(): URL {
  const url = process.env.MILLRACE_TEST_DATABASE_URL;
  if (!url) throw new Error('MILLRACE_TEST_DATABASE_URL is not set; run the tests with: npm test -- <pattern>');
  return new URL(url);
}

/** A time zone whose days and hours begin at other times than those of UTC, as a server may have one. */
const ZONE = 'Pacific/Marquesas';

/** Copy the template: some 50 ms, against seconds for running the migrations. */
export async function createTestDatabase(poolSize = 10): Promise<TestDatabase> {
  const template = templateUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${pg.escapeIdentifier(template.pathname.slice(1))}`);
  await onServer(`ALTER DATABASE ${name} SET timezone = '${ZONE}'`);
  const url = new URL(template);
  url.pathname = `/${name}`;
  const settings = { databaseUrl: url.href, databasePoolSize: poolSize, databaseTimeoutMs: 120_000 };
  const database = new Database(settings, 'millrace-test');
  return {
    url: url.href,
    database,
    drop: async () => {
      await database.close();
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** One statement on the server itself. Copies of one template wait for each other inside the server. */
async function onServer(sql: string): Promise<void> {
  const url = templateUrl();
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`SELECT pg_advisory_lock(7215)`);
    await client.query(sql);
  } finally {
    await client.end();
  }
}
