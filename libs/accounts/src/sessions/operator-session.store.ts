import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** A browser in which an operator is signed in. */
export interface OperatorSession {
  id: string;
  expiresAt: Date;
}

/** The SQL of operators' sessions. One that has ended is deleted. */
export class OperatorSessionStore {
  async create(tx: Statements, hash: Buffer, lifeSeconds: number): Promise<OperatorSession> {
    const [row] = await tx.rows<OperatorSession>(Prisma.sql`
      INSERT INTO operator_sessions (id, secret_hash, expires_at)
      VALUES (${newId()}::uuid, ${hash}, now() + make_interval(secs => ${lifeSeconds})) RETURNING id, expires_at`);
    return row as OperatorSession;
  }

  /** @returns null when there is none of this hash, or it has expired. */
  async find(tx: Statements, hash: Buffer): Promise<OperatorSession | null> {
    const [row] = await tx.rows<OperatorSession>(Prisma.sql`
      SELECT id, expires_at FROM operator_sessions WHERE secret_hash = ${hash} AND expires_at > now()`);
    return row ?? null;
  }

  async delete(tx: Statements, id: string): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM operator_sessions WHERE id = ${id}::uuid`);
  }

  /** Delete sessions that have expired, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM operator_sessions WHERE id IN (
        SELECT id FROM operator_sessions WHERE expires_at < now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
