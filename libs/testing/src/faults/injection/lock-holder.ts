import pg from 'pg';

const LOCKS = {
  'locked account': 'SELECT FROM account_queues ORDER BY waiting DESC LIMIT 1 FOR UPDATE SKIP LOCKED',
  // Every statement of every process waits, with the connection that it has.
  'connection pool at its end': 'LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE',
} as const;
const LOCK_TIMEOUT_MS = 1_000;

/** A session of its own that holds a lock until it is closed. */
export class LockHolder {
  private constructor(private readonly client: pg.Client) {}

  /** @returns null when PostgreSQL is away, or does not give the lock. */
  static async open(databaseUrl: string, kind: keyof typeof LOCKS): Promise<LockHolder | null> {
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: LOCK_TIMEOUT_MS });
    // PostgreSQL may be restarted meanwhile: the lock is gone then.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await client.query('BEGIN');
      await client.query(LOCKS[kind]);
      return new LockHolder(client);
    } catch {
      await client.end().catch(() => undefined);
      return null;
    }
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}
