import pg from 'pg';
import { Prisma } from '@prisma/client';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { Database, type Statements } from './database';
import { ConstraintError, RefusedError, isUnstorableText } from './errors';
import { LockSession } from './lock-session';
import { relaxedCommit } from './relaxed-commit';
import { besideTransaction, holdingConnection } from './nested-connection';
import { REQUIRED_MIGRATION, assertSchema, awaitSchema } from './schema-version';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

describe('a pooler that lends a connection for one transaction', () => {
  it('is refused without the URL of PostgreSQL itself, which locks need', () => {
    const settings = { databaseUrl: test.url, databasePoolSize: 2, databaseTimeoutMs: 1_000 };
    const open = (): Database => new Database({ ...settings, databasePoolerMode: 'transaction' }, 'test');
    expect(open).toThrow(/MILLRACE_DATABASE_DIRECT_URL/);
  });

  it('is refused where sessions of its role are in another time zone than UTC', async () => {
    const behind = async (zone: string): Promise<void> => {
      const url = new URL(test.url);
      url.searchParams.set('options', `-c statement_timeout=9s -c idle_in_transaction_session_timeout=9s ${zone}`);
      const settings = {
        databaseUrl: url.href,
        databaseDirectUrl: test.url,
        databasePoolSize: 2,
        databaseTimeoutMs: 9_000,
      };
      const database = new Database({ ...settings, databasePoolerMode: 'transaction' }, 'test');
      await database.ping().finally(() => database.close());
    };
    await expect(behind('')).rejects.toThrow(`SET timezone = 'UTC'; and reconnect`);
    await expect(behind('-c timezone=Europe/London')).rejects.toThrow('are in the time zone Europe/London');
    await behind('-c timezone=Etc/UTC');
  });
});

describe('a statement', () => {
  it('that refuses itself leaves nothing behind and reports its reason', async () => {
    const id = '0199aaaa-0000-7000-8000-000000000001';
    const refused = test.database.query(Prisma.sql`
      WITH made AS (INSERT INTO accounts (id, name) VALUES (${id}::uuid, 'a') RETURNING id)
      SELECT refuse('queue_full') FROM made`);
    await expect(refused).rejects.toEqual(new RefusedError('queue_full'));
    expect(await test.database.models.account.findMany()).toEqual([]);
  });

  it('that meets a constraint names it', async () => {
    const insert = (): Promise<number> =>
      test.database.execute(
        Prisma.sql`INSERT INTO accounts (id, name) VALUES ('0199aaaa-0000-7000-8000-000000000002'::uuid, 'b')`,
      );
    await insert();
    await expect(insert()).rejects.toEqual(new ConstraintError('unique', 'accounts_pkey'));
    await expect(test.database.execute(Prisma.sql`UPDATE accounts SET status = 'lost'`)).rejects.toEqual(
      new ConstraintError('check', 'accounts_status_check'),
    );
  });

  it('that is given NUL in a text, or in JSON, is known to be', async () => {
    const { database } = test;
    const id = '0199aaaa-0000-7000-8000-000000000003';
    const attempts = [
      database.rows(Prisma.sql`SELECT ${'a\0'}::text`),
      database.rows(Prisma.sql`SELECT ${JSON.stringify({ a: '\0' })}::jsonb`),
      database.transaction((tx) => tx.rows(Prisma.sql`SELECT ${'a\0'}::text`)),
      database.models.account.create({ data: { id, name: 'a\0' } }),
    ];
    for (const attempt of attempts) {
      expect(isUnstorableText(await attempt.catch((error: unknown) => error))).toBe(true);
    }
    expect(isUnstorableText(await database.rows(Prisma.sql`SELECT 1 / 0`).catch((error: unknown) => error))).toBe(
      false,
    );
  });

  it('commits without waiting for the disk where it says so, and the next one on its connection waits', async () => {
    const single = new Database({ databaseUrl: test.url, databasePoolSize: 1, databaseTimeoutMs: 5_000 }, 'test');
    const setting = Prisma.sql`SELECT current_setting('synchronous_commit') AS waits`;
    try {
      // The servers of tests never wait.
      await single.execute(Prisma.sql`SET synchronous_commit = on`);
      await single.execute(Prisma.sql`INSERT INTO accounts (id, name) SELECT uuidv7(), 'c' FROM ${relaxedCommit}`);
      expect(await single.rows(setting)).toEqual([{ waits: 'on' }]);
      const within = await single.transaction(async (tx) => {
        await tx.execute(Prisma.sql`UPDATE accounts SET name = 'd' FROM ${relaxedCommit} WHERE name = 'c'`);
        return tx.rows(setting);
      });
      expect(within).toEqual([{ waits: 'off' }]);
      expect(await single.rows(setting)).toEqual([{ waits: 'on' }]);
    } finally {
      await single.close();
    }
  });
});

describe('a transaction', () => {
  it('waits for a connection as long as a statement does', async () => {
    const busy = await createTestDatabase(2);
    try {
      const sleeping = [1, 2].map(() => busy.database.query(Prisma.sql`SELECT pg_sleep(2.5)`));
      const waiting = busy.database.transaction((tx) => tx.query<{ one: number }>(Prisma.sql`SELECT 1 AS one`));
      expect(await waiting).toEqual([{ one: 1 }]);
      await Promise.all(sleeping);
    } finally {
      await busy.drop();
    }
  });

  it('is refused another connection of its pool, in whichever way it asks for it', async () => {
    const { database } = test;
    const one = Prisma.sql`SELECT 1 AS one`;
    const nested: ((tx: Statements) => Promise<unknown>)[] = [
      () => database.query(one),
      () => database.rows(one),
      () => database.execute(one),
      () => database.transaction(() => Promise.resolve()),
      async () => database.models.account.count(),
      async (tx) => {
        await tx.query(one);
        await Promise.all([1, 2].map(() => database.query(one)));
      },
    ];
    for (const work of nested) {
      await expect(database.transaction(work)).rejects.toMatchObject({ name: 'NestedConnectionError' });
    }
    expect(await database.transaction(() => besideTransaction(() => database.query(one)))).toEqual([{ one: 1 }]);
    expect(await database.query(one)).toEqual([{ one: 1 }]);
  });

  it('enters no asynchronous context in production, where each one costs every promise of the process', async () => {
    const settings = { databaseUrl: test.url, databasePoolSize: 1, databaseTimeoutMs: 30_000 };
    const database = new Database(settings, 'as in production', false);
    try {
      const context = await database.transaction(() => Promise.resolve(holdingConnection.getStore()));
      expect(context).toBeUndefined();
    } finally {
      await database.close();
    }
  });

  it('undoes everything when its work throws', async () => {
    const name = 'undone';
    const failing = test.database.transaction(async (tx) => {
      await tx.models.account.create({ data: { id: '0199aaaa-0000-7000-8000-000000000003', name } });
      throw new Error('the work failed');
    });
    await expect(failing).rejects.toThrow('the work failed');
    expect(await test.database.models.account.count({ where: { name } })).toBe(0);
  });
});

describe('a lock', () => {
  it('is asked for when the last answer has come: a connection takes one statement at a time', async () => {
    const query = Reflect.get(pg.Client.prototype, 'query') as (...args: unknown[]) => Promise<unknown>;
    let [open, most] = [0, 0];
    Reflect.set(pg.Client.prototype, 'query', async function (this: pg.Client, ...args: unknown[]) {
      most = Math.max(most, (open += 1));
      return Reflect.apply(query, this, args).finally(() => (open -= 1));
    });
    try {
      const names = Array.from({ length: 8 }, (_, n) => `one of many ${n}`);
      const worked = names.map((name) => test.database.withLock(name, () => Promise.resolve(name)));
      expect(await Promise.all(worked)).toEqual(names);
    } finally {
      Reflect.set(pg.Client.prototype, 'query', query);
    }
    expect(most).toBe(1);
  });

  it('is taken on one session, which follows the one that has ended', async () => {
    const application_name = 'one session of locks';
    const locks = new LockSession({ connectionString: test.url, application_name }, 5_000);
    const sessions = (): Promise<{ pid: number }[]> =>
      test.database.query(Prisma.sql`SELECT pid FROM pg_stat_activity WHERE application_name = ${application_name}`);
    try {
      expect(await locks.withLock('a', () => Promise.resolve(1))).toBe(1);
      const first = await (Reflect.get(locks, 'session') as Promise<pg.Client>);
      const ended = new Promise<void>((resolve) => first.once('end', () => resolve()));
      // Between the error and the end of the first session the second one begins.
      const second = new Promise<number | null>((resolve) =>
        first.once('error', () => resolve(locks.withLock('b', () => Promise.resolve(2)))),
      );
      await test.database.query(Prisma.sql`SELECT pg_terminate_backend(${(await sessions())[0]?.pid}::int)`);
      expect(await second).toBe(2);
      await ended;
      expect(await locks.withLock('c', () => Promise.resolve(3))).toBe(3);
      expect(await sessions()).toHaveLength(1);
    } finally {
      await locks.close();
    }
  });

  it('is held by one at a time and free again afterwards', async () => {
    const inner = await test.database.withLock('chore', () => test.database.withLock('chore', async () => 'both'));
    expect(inner).toBeNull();
    expect(await test.database.withLock('chore', async () => 'free')).toBe('free');
  });
});

describe('the question whether PostgreSQL answers', () => {
  it('is answered while statements hold all connections, and others wait for one', async () => {
    const single = new Database({ databaseUrl: test.url, databasePoolSize: 1, databaseTimeoutMs: 30_000 }, 'test');
    const take = Prisma.sql`SELECT 1 AS taken FROM pg_advisory_xact_lock(1)`;
    const held = await test.database.transaction(async (tx) => {
      await tx.query(take);
      const waiting = [single.query(take), single.query(take)];
      await single.ping();
      expect(single.connections).toEqual({ busy: 1, idle: 0, waiting: 1 });
      return waiting;
    });
    expect(await Promise.all(held)).toEqual([[{ taken: 1 }], [{ taken: 1 }]]);
    await single.ping();
    await single.close();
  });
});

describe('the schema', () => {
  it('is accepted when the required migration is applied', async () => {
    await expect(assertSchema(test.database)).resolves.toBeUndefined();
  });

  it('is refused with a cure when the migration is missing or the table is', async () => {
    const other = await createTestDatabase();
    try {
      await other.database.execute(Prisma.sql`DELETE FROM _prisma_migrations`);
      await expect(assertSchema(other.database)).rejects.toThrow(`lacks the migration ${REQUIRED_MIGRATION}`);
      await other.database.execute(Prisma.sql`DROP TABLE _prisma_migrations`);
      await expect(assertSchema(other.database)).rejects.toThrow('run the migrations first');
    } finally {
      await other.drop();
    }
  });

  it('is not taken for missing where the user may not look at it', async () => {
    const looking = test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`CREATE ROLE nobodys_member`);
      await tx.execute(Prisma.sql`SET LOCAL ROLE nobodys_member`);
      await assertSchema(tx);
    });
    await expect(looking).rejects.toThrow('may not read the table _prisma_migrations: make it a member of the role');
  });
});

describe('a migration that did not finish', () => {
  const begin = (name: string): Promise<number> =>
    test.database.execute(
      Prisma.sql`INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('begun', '', ${name})`,
    );
  afterEach(() => test.database.execute(Prisma.sql`DELETE FROM _prisma_migrations WHERE id = 'begun'`));

  it('and that this version needs keeps its processes from starting', async () => {
    const earlier = `${REQUIRED_MIGRATION.slice(0, 14)}_a`;
    await begin(earlier);
    await expect(assertSchema(test.database)).rejects.toThrow(`The migration ${earlier} did not finish`);
  });

  it('of a later version does not: they warn, and start', async () => {
    await begin('29990101000000_next');
    const warn = jest.fn();
    await awaitSchema(test.database, { warn });
    expect(warn.mock.calls).toEqual([
      ['The migration 29990101000000_next, which this version does not need, did not finish.'],
    ]);
  });
});

describe('a process that starts while the migrations run', () => {
  const rename = (from: string, to: string): Promise<number> =>
    test.database.execute(Prisma.raw(`ALTER TABLE "${from}" RENAME TO "${to}"`));

  it('warns once what it waits for, and goes on when they are done', async () => {
    await rename('_prisma_migrations', 'not_yet');
    const warnings: string[] = [];
    const migrated: Promise<number>[] = [];
    const warn = (sentence: string): void => {
      warnings.push(sentence);
      migrated.push(rename('not_yet', '_prisma_migrations'));
    };
    await awaitSchema(test.database, { warn });
    await Promise.all(migrated);
    expect(warnings).toEqual([expect.stringContaining(`lacks the migration ${REQUIRED_MIGRATION}`)]);
  });

  it('gives up with the cure when they do not come', async () => {
    await rename('_prisma_migrations', 'not_yet');
    const given = awaitSchema(test.database, { warn: () => undefined }, 250);
    await expect(given)
      .rejects.toThrow('run the migrations first')
      .finally(() => rename('not_yet', '_prisma_migrations'));
  });
});

describe('values', () => {
  const columns = Prisma.sql`
    9007199254740993::int8 AS big, ARRAY[1, 9007199254740993]::int8[] AS bigs, 7::int4 AS small, 1.5::float8 AS real,
    '2026-11-21'::date AS day, '2026-11-21T10:20:30.123Z'::timestamptz AS at, '{"a": [1]}'::jsonb AS document,
    ARRAY['a', 'b,c']::text[] AS words, true AS flag, NULL::int8 AS nothing,
    '0199aaaa-0000-7000-8000-000000000004'::uuid AS id, '\\x0102'::bytea AS bytes`;

  it('are read alike in a transaction and outside', async () => {
    const select = Prisma.sql`SELECT ${columns}`;
    const [outside] = await test.database.query<Record<string, unknown>>(select);
    const [inside] = await test.database.transaction((tx) => tx.query<Record<string, unknown>>(select));
    expect({ ...outside, bytes: [...(outside?.bytes as Uint8Array)] }).toEqual({
      ...inside,
      bytes: [...(inside?.bytes as Uint8Array)],
    });
    expect(outside).toMatchObject({ big: 9007199254740993n, at: new Date('2026-11-21T10:20:30.123Z') });
  });

  it('have the names of code, in a transaction and outside; what is inside a document keeps its own', async () => {
    const select = Prisma.sql`SELECT 1 AS one, 'a' AS account_id, 2 AS price_micros_per_second, '{"a_b": 1}'::jsonb AS a_b`;
    const named = [{ one: 1, accountId: 'a', priceMicrosPerSecond: 2, aB: { a_b: 1 } }];
    expect(await test.database.rows(select)).toEqual(named);
    expect(await test.database.transaction((tx) => tx.rows(select))).toEqual(named);
    expect(await test.database.rows(Prisma.sql`SELECT 1 AS one WHERE false`)).toEqual([]);
  });

  it('are written as they are', async () => {
    const at = new Date('2026-11-21T10:20:30.123Z');
    const [row] = await test.database.query<Record<string, unknown>>(Prisma.sql`
      SELECT ${9007199254740993n}::int8 AS big, ${at}::timestamptz AS at, ${['a', 'b"c', 'd,e']}::text[] AS words,
        ${[1n, 2n]}::int8[] AS bigs, ${null}::text AS nothing, ${true}::boolean AS flag,
        ${Buffer.from([0, 255])}::bytea AS bytes, ${1.5}::float8 AS real`);
    expect(row).toEqual({
      big: 9007199254740993n,
      at,
      words: ['a', 'b"c', 'd,e'],
      bigs: [1n, 2n],
      nothing: null,
      flag: true,
      bytes: Buffer.from([0, 255]),
      real: 1.5,
    });
  });

  it('are times of UTC, in a transaction and outside, where the server is in another zone', async () => {
    const at = new Date('2026-11-21T10:20:30.123Z');
    const select = Prisma.sql`SELECT extract(epoch FROM ${at}::timestamptz)::float8 AS seconds, current_setting('TimeZone') AS zone`;
    const utc = [{ seconds: at.getTime() / 1_000, zone: 'UTC' }];
    expect(await test.database.query(select)).toEqual(utc);
    expect(await test.database.transaction((tx) => tx.query(select))).toEqual(utc);
    const other = new pg.Client({ connectionString: test.url });
    await other.connect();
    try {
      const { rows } = await other.query<{ zone: string }>(`SELECT current_setting('TimeZone') AS zone`);
      expect(rows).not.toEqual([{ zone: 'UTC' }]);
    } finally {
      await other.end();
    }
  });
});
