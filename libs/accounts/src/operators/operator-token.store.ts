import { Prisma } from '@prisma/client';
import { newId, type OperatorRole } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** A token of an operator, usually a machine. The secret itself is kept nowhere. */
export interface OperatorToken {
  id: string;
  name: string;
  role: OperatorRole;
  /** The actor who made it. */
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
  /** To the minute. */
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

const COLUMNS = Prisma.sql`id, name, role, created_by, created_at, expires_at, last_used_at, revoked_at`;

/** The SQL of operators' tokens. One that was revoked stays: its name is in the audit log, and is given to no other. */
export class OperatorTokenStore {
  /** @returns null when the name is taken, or was. */
  async create(
    tx: Statements,
    hash: Buffer,
    { name, role, createdBy, expiresAt }: Pick<OperatorToken, 'name' | 'role' | 'createdBy' | 'expiresAt'>,
  ): Promise<OperatorToken | null> {
    const [row] = await tx.rows<OperatorToken>(Prisma.sql`
      INSERT INTO operator_tokens (id, name, role, secret_hash, created_by, expires_at)
      VALUES (${newId()}::uuid, ${name}, ${role}, ${hash}, ${createdBy}, ${expiresAt})
      ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`);
    return row ?? null;
  }

  /** The token of a hash, if it counts; notes its use, at most once a minute. */
  async use(tx: Statements, hash: Buffer): Promise<OperatorToken | null> {
    const [row] = await tx.rows<OperatorToken>(Prisma.sql`
      WITH token AS (
        SELECT ${COLUMNS} FROM operator_tokens WHERE secret_hash = ${hash} AND revoked_at IS NULL AND expires_at > now()
      ), used AS (
        UPDATE operator_tokens t SET last_used_at = now() FROM token
        WHERE t.id = token.id AND (token.last_used_at IS NULL OR token.last_used_at < now() - interval '1 minute')
      )
      SELECT * FROM token`);
    return row ?? null;
  }

  /** The id of the token with this hash, whether or not it works. */
  async findByHash(tx: Statements, hash: Buffer): Promise<string | null> {
    const [row] = await tx.rows<{ id: string }>(Prisma.sql`SELECT id FROM operator_tokens WHERE secret_hash = ${hash}`);
    return row?.id ?? null;
  }

  /** `limit` at most, newest first. */
  async list(tx: Statements, limit: number): Promise<OperatorToken[]> {
    return tx.rows<OperatorToken>(Prisma.sql`
      SELECT ${COLUMNS} FROM operator_tokens ORDER BY id DESC LIMIT ${limit}`);
  }

  /** Its sessions end with it. @returns null when there is none; revoking a revoked one changes nothing. */
  async revoke(tx: Statements, id: string): Promise<OperatorToken | null> {
    const [row] = await tx.rows<OperatorToken>(Prisma.sql`
      UPDATE operator_tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = ${id}::uuid RETURNING ${COLUMNS}`);
    return row ?? null;
  }
}
