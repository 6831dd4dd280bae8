import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** Somebody who asked for links by mail. */
export interface SignInRequest {
  id: string;
  /** Whose address it is, as `SignInSeal` sealed it. */
  sealed: Buffer;
  /** The browser that asked; only with it a link counts. */
  browserHash: Buffer;
  /** A pseudonym of the network from which it asked. */
  networkHash: Buffer;
}

/** One that is being carried out. */
export interface TakenSignInRequest extends SignInRequest {
  leftSeconds: number;
}

/** The SQL of requests for links by mail. One that was carried out is deleted. */
export class SignInRequestStore {
  /** The same one statement, no matter whose the address is. */
  async insert(tx: Statements, request: SignInRequest, lifeSeconds: number): Promise<void> {
    const { id, sealed, browserHash, networkHash } = request;
    await tx.execute(Prisma.sql`
      INSERT INTO sign_in_requests (id, sealed, browser_hash, network_hash, expires_at)
      VALUES (${id}::uuid, ${sealed}, ${browserHash}, ${networkHash}, now() + make_interval(secs => ${lifeSeconds}))`);
  }

  /** Take the oldest requests, `limit` at most, oldest first, with how many seconds are left of each. */
  async take(tx: Statements, limit: number): Promise<TakenSignInRequest[]> {
    const rows = await tx.rows<TakenSignInRequest>(Prisma.sql`
      WITH taken AS (
        DELETE FROM sign_in_requests WHERE id IN (
          SELECT id FROM sign_in_requests WHERE expires_at > now() ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
        RETURNING id, sealed, browser_hash, network_hash, extract(epoch FROM expires_at - now())::float8 AS left_seconds)
      SELECT * FROM taken ORDER BY id`);
    // In a transaction bytes come without what a Buffer does.
    return rows.map((row) => ({
      ...row,
      sealed: Buffer.from(row.sealed),
      browserHash: Buffer.from(row.browserHash),
      networkHash: Buffer.from(row.networkHash),
    }));
  }

  /** Delete requests that nobody carried out in time, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM sign_in_requests WHERE id IN (
        SELECT id FROM sign_in_requests WHERE expires_at <= now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
