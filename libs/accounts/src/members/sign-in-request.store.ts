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

/** The SQL of requests for links by mail. One that was carried out is deleted. */
export class SignInRequestStore {
  /** The same one statement, no matter whose the address is. */
  async insert(tx: Statements, request: SignInRequest, lifeSeconds: number): Promise<void> {
    const { id, sealed, browserHash, networkHash } = request;
    await tx.execute(Prisma.sql`
      INSERT INTO sign_in_requests (id, sealed, browser_hash, network_hash, expires_at)
      VALUES (${id}::uuid, ${sealed}, ${browserHash}, ${networkHash}, now() + make_interval(secs => ${lifeSeconds}))`);
  }

  /** Take the oldest request, with how many seconds are left of it. @returns null when there is none. */
  async take(tx: Statements): Promise<(SignInRequest & { leftSeconds: number }) | null> {
    const [row] = await tx.rows<SignInRequest & { leftSeconds: number }>(Prisma.sql`
      DELETE FROM sign_in_requests WHERE id = (
        SELECT id FROM sign_in_requests WHERE expires_at > now() ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING id, sealed, browser_hash, network_hash, extract(epoch FROM expires_at - now())::float8 AS left_seconds`);
    if (row === undefined) return null;
    const { sealed, browserHash, networkHash } = row;
    // In a transaction bytes come without what a Buffer does.
    return {
      ...row,
      sealed: Buffer.from(sealed),
      browserHash: Buffer.from(browserHash),
      networkHash: Buffer.from(networkHash),
    };
  }

  /** Delete requests that nobody carried out in time, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM sign_in_requests WHERE id IN (
        SELECT id FROM sign_in_requests WHERE expires_at <= now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
