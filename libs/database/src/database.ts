import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import { type Prisma, PrismaClient } from '@prisma/client';
import pg from 'pg';
import type { DatabaseSettings } from './database.settings';
import { BootError, inChildSpan, type SpanOptions } from '@millrace/platform';
import { translateError } from './errors';
import { LockSession } from './lock-session';
import { NestedConnectionError, holdingConnection } from './nested-connection';
import { keepsStatements } from './pooled-statements';
import { renamed, rowsOf } from './rows';
import { sessionOf } from './session';
import { statementName, statementOf } from './statement';
import { SILENT_CONNECTION } from './transient';

/**
 * Where a statement runs: the database, or a transaction of it. Stores take one, so that a use case decides what commits
 * together.
 */
export interface Statements {
  /** Run one statement and return its rows. @throws RefusedError, ConstraintError, or the driver's error. */
  query<T>(sql: Prisma.Sql): Promise<T[]>;
  /** As `query`, with the columns named as in code: `account_id` is `accountId`. */
  rows<T>(sql: Prisma.Sql): Promise<T[]>;
  /** Run one statement and return the number of rows it changed. */
  execute(sql: Prisma.Sql): Promise<number>;
  /** Prisma's model API, for everything that is not a hot path. */
  readonly models: Prisma.TransactionClient;
}

/** A connection that stays silent for this much longer than a statement may take is dead, though it was never closed. */
const SILENCE_MARGIN_MS = 2_000;

/** Where to connect, and how. */
type ConnectionSettings = Pick<DatabaseSettings, 'databaseUrl' | 'databasePoolSize' | 'databaseTimeoutMs'> &
  Partial<DatabaseSettings>;

/** The process's connections to PostgreSQL: one pool, which Prisma shares. */
export class Database implements Statements {
  private readonly pool: pg.Pool;
  /** One connection more, for a question that must not wait for work to end. */
  private readonly spare: pg.Pool;
  private prisma: PrismaClient | undefined;
  private readonly locks: LockSession;
  /** How long one statement may take, and a transaction where nothing else is said, in milliseconds. */
  readonly timeoutMs: number;
  /** Behind a pooler that lends a connection for one transaction, a prepared statement is on another one the next time, unless it keeps them. */
  private prepares: boolean;
  /** No connection so far has shown a pooler that keeps none. */
  private mayPrepare = true;

  /**
   * Opens no connection: the first statement does.
   *
   * @throws BootError when locks would go through a pooler that lends a connection for one transaction.
   *
   * @param refusesNested throw `NestedConnectionError` where work in a transaction asks for another connection; by default in
   * tests, and what they start.
   */
  constructor(
    settings: ConnectionSettings,
    applicationName: string,
    private readonly refusesNested = process.env.NODE_ENV === 'test',
  ) {
    const { databaseUrl, databaseDirectUrl = databaseUrl, databasePoolerMode = 'session' } = settings;
    if (databasePoolerMode === 'transaction' && settings.databaseDirectUrl === undefined) {
      throw new BootError(
        'MILLRACE_DATABASE_POOLER_MODE=transaction needs MILLRACE_DATABASE_DIRECT_URL, the URL of PostgreSQL itself: a lock that is ' +
          'taken through the pooler may never be released.',
      );
    }
    this.timeoutMs = settings.databaseTimeoutMs;
    this.prepares = databasePoolerMode === 'session';
    const connection = {
      connectionString: databaseUrl,
      application_name: applicationName,
      connectionTimeoutMillis: settings.databaseTimeoutMs,
      keepAlive: true,
      stream: () => socketWithTimeout(settings.databaseTimeoutMs + SILENCE_MARGIN_MS),
    };
    const setSession = sessionOf(databasePoolerMode, settings.databaseTimeoutMs);
    const setUp = async (client: pg.ClientBase): Promise<void> => {
      await setSession(client);
      if (databasePoolerMode === 'transaction') this.noteKept(await keepsStatements(client));
    };
    // The pool waits for the promise that it is given, though the driver's types do not say so.
    const onConnect: (client: pg.ClientBase) => unknown = setUp;
    this.pool = new pg.Pool({ ...connection, onConnect, max: settings.databasePoolSize });
    this.spare = new pg.Pool({ ...connection, onConnect, max: 1 });
    this.locks = new LockSession({ ...connection, connectionString: databaseDirectUrl }, this.timeoutMs);
    // An idle connection that breaks is replaced by the pool; without a listener the event would end the process.
    for (const pool of [this.pool, this.spare]) pool.on('error', () => undefined);
  }

  /** Opened by the first use of it: its engine takes 0.2 s of processor time and 40 MB, which plain statements do without. */
  private get client(): PrismaClient {
    this.prisma ??= new PrismaClient({
      adapter: new PrismaPg(this.pool, {
        statementNameGenerator: ({ sql }) => (this.prepares ? statementName(sql) : ''),
      }),
    });
    return this.prisma;
  }

  /** One that does not is enough: several poolers may stand behind an address, of different versions while they are upgraded. */
  private noteKept(keepsStatements: boolean): void {
    this.mayPrepare &&= keepsStatements;
    this.prepares = this.mayPrepare;
  }

  get models(): Prisma.TransactionClient {
    this.assertNotNested();
    return this.client;
  }

  async query<T>(sql: Prisma.Sql): Promise<T[]> {
    this.assertNotNested();
    return traced(sql, async () => (await this.pool.query(statementOf(sql, this.prepares))).rows as T[]);
  }

  async rows<T>(sql: Prisma.Sql): Promise<T[]> {
    this.assertNotNested();
    return traced(sql, async () =>
      rowsOf<T>(await this.pool.query({ ...statementOf(sql, this.prepares), rowMode: 'array' })),
    );
  }

  async execute(sql: Prisma.Sql): Promise<number> {
    this.assertNotNested();
    return traced(sql, async () => (await this.pool.query(statementOf(sql, this.prepares))).rowCount ?? 0);
  }

  /** Connections of the pool: in use, free, and what waits for one. */
  get connections(): { busy: number; idle: number; waiting: number } {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.pool;
    return { busy: totalCount - idle, idle, waiting };
  }

  /** Resolves when PostgreSQL answers: also while work holds all connections, which is no reason to take a process for cut off. */
  async ping(): Promise<void> {
    const isFull = this.connections.busy >= this.pool.options.max;
    await (isFull ? this.spare : this.pool).query('SELECT 1');
  }

  /**
   * Run statements that commit together. Use it where one statement is not enough: a transaction across round trips costs
   * several times as much as a statement, and holds a connection for its whole length.
   *
   * Nothing that `work` waits for may use this database but through `tx`: where all connections are held by work that waits for
   * one more, none of it ever ends. Tests refuse it.
   *
   * @param timeoutMs how long it may take; by default as long as one statement.
   */
  async transaction<T>(work: (tx: Statements) => Promise<T>, timeoutMs = this.timeoutMs): Promise<T> {
    this.assertNotNested();
    // When all connections are busy, a transaction waits as long as a statement does.
    const timeouts = { maxWait: this.timeoutMs, timeout: timeoutMs };
    return run(() =>
      this.client.$transaction(
        (tx) =>
          this.holding(() =>
            work({
              models: tx,
              rows: <R>(sql: Prisma.Sql) =>
                traced(sql, async () => renamed<R>(await tx.$queryRaw<Record<string, unknown>[]>(sql))),
              query: <R>(sql: Prisma.Sql) => traced(sql, () => tx.$queryRaw<R[]>(sql)),
              execute: (sql) => traced(sql, () => tx.$executeRaw(sql)),
            }),
          ),
        timeouts,
      ),
    );
  }

  /**
   * Run `work` while no other process holds the lock of this name. The server frees the lock when this process dies or
   * freezes, so `work` must be safe to run twice at once.
   *
   * @returns what `work` returned, or null when another process holds the lock.
   */
  async withLock<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    return this.locks.withLock(name, work);
  }

  /**
   * Only where nesting is refused: on Node 20 a process that has entered an asynchronous context once pays for it with every
   * promise from then on.
   */
  private holding<T>(work: () => T): T {
    return this.refusesNested ? holdingConnection.run(this, work) : work();
  }

  private assertNotNested(): void {
    if (this.refusesNested && holdingConnection.getStore() === this) throw new NestedConnectionError();
  }

  async close(): Promise<void> {
    await this.locks.close();
    await this.prisma?.$disconnect();
    await Promise.all([this.pool.end(), this.spare.end()]);
  }
}

const QUERY_TEXT_LIMIT = 2_000;

/** Within a trace a statement is a span with its text, which contains no values. */
function traced<T>(sql: Prisma.Sql, statement: () => Promise<T>): Promise<T> {
  const spanOptions = (): SpanOptions => ({
    role: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql.sql.slice(0, QUERY_TEXT_LIMIT) },
  });
  return inChildSpan('postgresql', spanOptions, () => run(statement));
}

async function run<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw translateError(error);
  }
}

/** A socket that closes when nothing has passed for this long: an unplugged peer never closes its end. */
function socketWithTimeout(silentMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(silentMs, () => socket.destroy(new Error(SILENT_CONNECTION)));
  return socket;
}
