import { createHash } from 'node:crypto';
import pg from 'pg';

/**
 * The server ends a session without statements for this long, and its locks with it, so that a frozen process does not keep
 * others from its work. Loops send a statement every second.
 */
const SILENT_MS = 10_000;

/**
 * The locks of one process, all on one connection beside the pool: a connection for each lock would leave none for the work
 * under the locks.
 */
export class LockSession {
  private session: Promise<pg.Client> | null = null;
  private readonly held = new Set<string>();
  /** The end of the last statement: a connection runs one at a time. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly settings: pg.ClientConfig,
    private readonly timeoutMs: number,
  ) {}

  /** @returns what `work` returned, or null when the lock is held, here or elsewhere. */
  async withLock<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    // PostgreSQL lets a session take a lock twice that it holds.
    if (this.held.has(name)) return null;
    this.held.add(name);
    try {
      const session = await this.open();
      const key = lockKey(name);
      const { rows } = await this.query<{ locked: boolean }>(session, 'SELECT pg_try_advisory_lock($1) AS locked', key);
      if (!rows[0]?.locked) return null;
      try {
        return await work();
      } finally {
        // If this fails, the session has ended, and the lock with it.
        await this.query(session, 'SELECT pg_advisory_unlock($1)', key).catch(() => undefined);
      }
    } finally {
      this.held.delete(name);
    }
  }

  private query<R extends pg.QueryResultRow>(
    session: pg.Client,
    text: string,
    key: string,
  ): Promise<pg.QueryResult<R>> {
    const answer = this.turn.then(() => session.query<R>(text, [key]));
    this.turn = answer.catch(() => undefined);
    return answer;
  }

  private open(): Promise<pg.Client> {
    if (this.session !== null) return this.session;
    // An error comes before the end of the same session, and its successor may be there by then.
    const session = this.connect(() => {
      if (this.session === session) this.session = null;
    });
    this.session = session;
    return session;
  }

  /** @param forget called when the session has ended, or did not begin. */
  private async connect(forget: () => void): Promise<pg.Client> {
    const client = new pg.Client(this.settings);
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
      await client.query(`SET idle_session_timeout = ${SILENT_MS}; SET statement_timeout = ${this.timeoutMs}`);
      return client;
    } catch (error) {
      forget();
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    const session = await this.session?.catch(() => null);
    await session?.end().catch(() => undefined);
  }
}

/** Advisory locks are numbers: 63 bits of a hash of the name. */
function lockKey(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE(0).toString();
}
