import { readdir, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Redis } from 'ioredis';
import pg from 'pg';
import { testRedisUrl } from '@millrace/testing';
import { openAudit } from '../../apps/maintenance/src/audit';

/** How bytes that have the text may be written: as they are, and as PostgreSQL prints bytes. */
const formsOf = (text: string): string[] => [text, Buffer.from(text).toString('hex')];

/** Names of all tables of a database. */
export async function allTables(url: string): Promise<string[]> {
  return namesOf(
    url,
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
}

/** The id of an account and of all that it has: of each row that names the account and has an id. */
export async function idsOf(url: string, accountId: string): Promise<string[]> {
  const tables = await namesOf(
    url,
    `SELECT quote_ident(table_name) AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND ((column_name = 'account_id') OR (column_name = 'id' AND data_type = 'uuid'))
     GROUP BY table_name HAVING count(*) = 2 ORDER BY 1`,
  );
  const selects = tables.map((table) => `SELECT id::text AS name FROM ${table} WHERE account_id = $1`);
  return [accountId, ...(await namesOf(url, selects.join(' UNION '), [accountId]))];
}

/** Every table of a database in which one of some texts stands in any column, bytes too. */
export async function tablesWith(url: string, ...texts: string[]): Promise<string[]> {
  const patterns = texts.flatMap(formsOf).map((form) => `%${form.toLowerCase()}%`);
  const selects = (await allTables(url)).map(
    (name) =>
      `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name} t WHERE lower(t::text) LIKE ANY ($1::text[]))`,
  );
  return namesOf(url, `${selects.join(' UNION ALL ')} ORDER BY 1`, [patterns]);
}

async function namesOf(url: string, query: string, values: unknown[] = []): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(query, values);
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Lines of a dump in which a text stands: what `pg_dump` writes of data is a COPY of every table. */
export async function dumpLinesWith(url: string, text: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const lines = (await copyOf(client, name)).split('\n');
      found.push(...lines.filter((line) => formsOf(text).some((form) => line.toLowerCase().includes(form))));
    }
    return found;
  } finally {
    await client.end();
  }
}

/** The rows of a table as COPY sends them. */
function copyOf(client: pg.Client, table: string): Promise<string> {
  const chunks: Buffer[] = [];
  const query = Object.assign(new pg.Query(`COPY ${table} TO STDOUT`), {
    handleCopyData: ({ chunk }: { chunk: Buffer }) => void chunks.push(chunk),
  });
  client.query(query);
  return new Promise((resolve, reject) => {
    query.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    query.on('error', reject);
  });
}

/** Keys of Redis that have a text in their name or their value, of whichever type. */
export async function redisKeysWith(text: string): Promise<string[]> {
  const redis = new Redis(testRedisUrl());
  try {
    const found: string[] = [];
    for (let cursor = '0'; ;) {
      const [next, keys] = await redis.scan(cursor, 'COUNT', 500);
      for (const key of keys) {
        if (`${key} ${await valueOf(redis, key)}`.includes(text)) found.push(key);
      }
      if (next === '0') return found;
      cursor = next;
    }
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: Redis, key: string): Promise<string> {
  switch (await redis.type(key)) {
    case 'string':
      return (await redis.getBuffer(key))?.toString('latin1') ?? '';
    case 'hash':
      return JSON.stringify(await redis.hgetall(key));
    case 'list':
      return JSON.stringify(await redis.lrange(key, 0, -1));
    case 'set':
      return JSON.stringify(await redis.smembers(key));
    case 'zset':
      return JSON.stringify(await redis.zrange(key, '0', '-1'));
    case 'stream':
      return JSON.stringify(await redis.xrange(key, '-', '+'));
    default:
      return '';
  }
}

/** Files below a folder that have a text in their path or in their bytes. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const paths = existsSync(folder) ? await readdir(folder, { recursive: true, withFileTypes: true }) : [];
  const found: string[] = [];
  for (const entry of paths) {
    const path = join(entry.parentPath, entry.name);
    const bytes = entry.isFile() ? await readFile(path).catch(() => Buffer.alloc(0)) : Buffer.alloc(0);
    if (entry.name.includes(text) || bytes.includes(text)) found.push(path);
  }
  return found;
}

/** Objects of a bucket that have a text in their name or their bytes. */
export async function objectsWith(s3: S3Client, bucket: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: bucket })) {
    for (const { Key = '' } of Contents) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key }));
      const bytes = (await Body?.transformToString('latin1')) ?? '';
      if (`${Key} ${bytes}`.includes(text)) found.push(Key);
    }
  }
  return found;
}

/** How many uploads in parts a bucket waits for: their parts are in no list of objects. */
export async function openUploadsOf(s3: S3Client, bucket: string): Promise<number> {
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return Uploads.length;
}

/** Entries in exported segments of the audit log that have a text, read with all salts that are still in the database. */
export async function archivedEntriesWith(env: NodeJS.ProcessEnv, segments: number, text: string): Promise<string[]> {
  const audit = await openAudit(env);
  try {
    const found: string[] = [];
    for (let no = 1; no <= segments; no += 1) {
      for await (const line of audit.archivedSegment(BigInt(no))) if (line.includes(text)) found.push(line);
    }
    return found;
  } finally {
    await audit.close();
  }
}
