import { Prisma } from '@prisma/client';
import { newId, type OperatorRole } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** An operator who is known by name. */
export interface NamedOperator {
  /** `token:<name>`, or `operator:<who>` for a person. */
  actor: string;
  role: OperatorRole;
  /** The operator token that proves it; null for a person. */
  tokenId: string | null;
}

/** A browser in which an operator is signed in. */
export interface OperatorSession {
  id: string;
  expiresAt: Date;
  /** Null for who proved the shared admin token. */
  named: NamedOperator | null;
}

interface SessionRow {
  id: string;
  expiresAt: Date;
  actor: string | null;
  role: OperatorRole | null;
  tokenId: string | null;
}

/** The SQL of operators' sessions. One that has ended is deleted. */
export class OperatorSessionStore {
  async create(
    tx: Statements,
    hash: Buffer,
    named: NamedOperator | null,
    lifeSeconds: number,
  ): Promise<OperatorSession> {
    const { actor = null, role = null, tokenId = null } = named ?? {};
    const [row] = await tx.rows<SessionRow>(Prisma.sql`
      INSERT INTO operator_sessions (id, secret_hash, actor, role, token_id, expires_at)
      VALUES (
        ${newId()}::uuid, ${hash}, ${actor}, ${role}, ${tokenId}::uuid, now() + make_interval(secs => ${lifeSeconds})
      ) RETURNING id, expires_at, actor, role, token_id`);
    return sessionOf(row as SessionRow);
  }

  /** @returns null when there is none of this hash, or it has expired, or the token that opened it works no more. */
  async find(tx: Statements, hash: Buffer): Promise<OperatorSession | null> {
    const [row] = await tx.rows<SessionRow>(Prisma.sql`
      SELECT s.id, s.expires_at, s.actor, s.role, s.token_id
      FROM operator_sessions s LEFT JOIN operator_tokens t ON t.id = s.token_id
      WHERE s.secret_hash = ${hash} AND s.expires_at > now()
        AND (s.token_id IS NULL OR t.revoked_at IS NULL AND t.expires_at > now())`);
    return row === undefined ? null : sessionOf(row);
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

function sessionOf({ id, expiresAt, actor, role, tokenId }: SessionRow): OperatorSession {
  return { id, expiresAt, named: actor === null || role === null ? null : { actor, role, tokenId } };
}
