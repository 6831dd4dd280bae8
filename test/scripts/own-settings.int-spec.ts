import pg from 'pg';
import { Scope } from '../../scripts/lib/command/scope.mjs';
import { ownDatabase } from '../../scripts/lib/prisma/own-database.mjs';
import { createDatabase } from '../../scripts/lib/prisma/migrate.mjs';
import { ownSettings } from '../../scripts/lib/stack/own-settings.mjs';

const SERVER = process.env.MILLRACE_TEST_DATABASE_URL ?? '';
/** What a shell may have exported for another stack. */
const OF_ANOTHER = {
  DATABASE_URL: SERVER,
  MILLRACE_DATABASE_DIRECT_URL: SERVER,
  REDIS_URL: 'redis://redis.example.com',
  S3_ENDPOINT: 'https://s3.example.com',
  S3_BUCKET: 'bucket',
  MILLRACE_BLOB_DIR: '/var/lib/blobs',
  MILLRACE_SECRET_KEY: 'secret',
  MILLRACE_ADMIN_TOKEN: 'token',
  MILLRACE_MAIL_SMTP_URL: 'smtp://mail.example.com',
  MILLRACE_PUBLIC_URL: 'https://api.example.com',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com',
};

const before = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(OF_ANOTHER)) {
    if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before[name];
  }
});

/** The names of the server's databases. */
async function databases(): Promise<string[]> {
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database');
    return rows.map(({ datname }) => datname);
  } finally {
    await client.end();
  }
}

it('a stack of its own takes no server, bucket, secret or folder that the shell names for another', () => {
  Object.assign(process.env, OF_ANOTHER);
  const settings = ownSettings(new Scope());
  expect(Object.keys(OF_ANOTHER).filter((name) => name in settings)).toEqual([]);
  expect(settings.PATH).toBe(process.env.PATH);
});

it('a database of its own is another one on the same server, and goes with its scope', async () => {
  const scope = new Scope();
  const name = `millrace_own_test_${process.pid}`;
  const url = ownDatabase(scope, SERVER, name);
  await createDatabase(url);
  expect(await databases()).toContain(name);
  const left = new pg.Client({ connectionString: url });
  left.on('error', () => undefined);
  await left.connect();
  expect(await scope.close()).toEqual([]);
  expect(await databases()).not.toContain(name);
  await left.end().catch(() => undefined);
});
