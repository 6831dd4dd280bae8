import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { seenLately, type WorkerRegistration } from '../worker.store';
import type { WorkerTokenHolder, WorkerTokenRecord } from './worker-token';

/** The most that one list shows. */
const MAX_LISTED = 1_000;
/** A use is noted this often at most, in seconds: every request would be a write else. */
const NOTED_EVERY_SECONDS = 60;

const columns = Prisma.sql`id, pool_id, name, created_at, last_used_at, expires_at, revoked_at`;
const works = Prisma.sql`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`;

const isLive = Prisma.sql`state <> 'stopped' AND ${seenLately(Prisma.sql`workers`)}`;

/** The SQL of worker tokens, and of the workers that joined with one. */
export class WorkerTokenStore {
  /** @returns null when there is no such pool. */
  async insert(
    tx: Statements,
    token: { id: string; poolId: string; name: string; hash: Buffer; expiresAt: Date | null },
  ): Promise<WorkerTokenRecord | null> {
    const [made] = await tx.rows<WorkerTokenRecord>(Prisma.sql`
      INSERT INTO worker_tokens (id, pool_id, name, hash, expires_at)
      SELECT ${token.id}::uuid, id, ${token.name}, ${token.hash}, ${token.expiresAt}::timestamptz
      FROM pools WHERE id = ${token.poolId}
      RETURNING ${columns}`);
    return made ?? null;
  }

  /** Tokens of a pool, the newest first. */
  async list(tx: Statements, poolId: string): Promise<WorkerTokenRecord[]> {
    return tx.rows(Prisma.sql`
      SELECT ${columns} FROM worker_tokens WHERE pool_id = ${poolId} ORDER BY id DESC LIMIT ${MAX_LISTED}`);
  }

  /** Make a token invalid from now on. Revoking twice keeps the first time. @returns null when the pool has no such token. */
  async revoke(tx: Statements, poolId: string, id: string): Promise<WorkerTokenRecord | null> {
    const [revoked] = await tx.rows<WorkerTokenRecord>(Prisma.sql`
      UPDATE worker_tokens SET revoked_at = coalesce(revoked_at, now())
      WHERE id = ${id}::uuid AND pool_id = ${poolId} RETURNING ${columns}`);
    return revoked ?? null;
  }

  /** Who shows the token of this hash, if it works now. Asked for every request: a revoked token is refused at once. */
  async find(tx: Statements, hash: Buffer): Promise<WorkerTokenHolder | null> {
    const [found] = await tx.rows<WorkerTokenHolder>(Prisma.sql`
      WITH used AS (
        UPDATE worker_tokens SET last_used_at = now()
        WHERE hash = ${hash} AND ${works}
          AND (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => ${NOTED_EVERY_SECONDS}))
      )
      SELECT id AS token_id, pool_id FROM worker_tokens WHERE hash = ${hash} AND ${works}`);
    return found ?? null;
  }

  /**
   * Register a worker of a token. The same worker may be registered again: its first answer may have been lost. The lock of the
   * token lets one register after the other, so that the limit holds. Run it in a transaction.
   *
   * @param limit workers of a token at most that are alive.
   * @returns false when there are as many.
   */
  async register(tx: Statements, tokenId: string, limit: number, worker: WorkerRegistration): Promise<boolean> {
    await this.lock(tx, tokenId);
    const { id, poolId, engine, version, host, pid, capacity } = worker;
    const rows = await tx.rows(Prisma.sql`
      WITH known AS (
        SELECT id FROM workers WHERE id = ${id}::uuid AND token_id = ${tokenId}::uuid
      ), made AS (
        INSERT INTO workers (id, pool_id, engine, version, host, pid, capacity, token_id)
        SELECT ${id}::uuid, ${poolId}, ${engine}, ${version}, ${host}, ${pid}, ${capacity}, ${tokenId}::uuid
        WHERE NOT EXISTS (SELECT FROM known) AND ${limit} > (
          SELECT count(*) FROM workers WHERE pool_id = ${poolId} AND token_id = ${tokenId}::uuid AND ${isLive})
        RETURNING id
      )
      SELECT id FROM known UNION ALL SELECT id FROM made`);
    return rows.length > 0;
  }

  /**
   * Whether a token has room for a worker that comes back, beside its live ones. The lock of the token lets one come back, or
   * register, after the other. Run it in the transaction that makes the worker a live one.
   */
  async hasRoomFor(
    tx: Statements,
    { tokenId, poolId }: WorkerTokenHolder,
    limit: number,
    workerId: string,
  ): Promise<boolean> {
    await this.lock(tx, tokenId);
    const [others] = await tx.rows<{ live: number }>(Prisma.sql`
      SELECT count(*)::int AS live FROM workers
      WHERE pool_id = ${poolId} AND token_id = ${tokenId}::uuid AND id <> ${workerId}::uuid AND ${isLive}`);
    return (others?.live ?? 0) < limit;
  }

  /**
   * Whether a worker that joined with this token is live: it has not stopped, and was seen lately.
   *
   * @returns null for one that did not join with it.
   */
  async isLive(tx: Statements, { tokenId, poolId }: WorkerTokenHolder, workerId: string): Promise<boolean | null> {
    const [worker] = await tx.rows<{ live: boolean }>(Prisma.sql`
      SELECT ${isLive} AS live FROM workers
      WHERE id = ${workerId}::uuid AND token_id = ${tokenId}::uuid AND pool_id = ${poolId}`);
    return worker?.live ?? null;
  }

  private async lock(tx: Statements, tokenId: string): Promise<void> {
    await tx.rows(Prisma.sql`SELECT id FROM worker_tokens WHERE id = ${tokenId}::uuid FOR UPDATE`);
  }
}
