import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { SessionGrant } from './console-session';

/** The SQL of links that sign in once. */
export class SignInLinkStore {
  /** @returns its id, and when it expires. */
  async create(
    tx: Statements,
    { accountId, apiKeyId }: SessionGrant,
    hash: Buffer,
    lifeSeconds: number,
  ): Promise<{ id: string; expiresAt: Date }> {
    const [row] = await tx.rows<{ id: string; expiresAt: Date }>(Prisma.sql`
      INSERT INTO sign_in_links (id, account_id, api_key_id, token_hash, expires_at)
      VALUES (${newId()}::uuid, ${accountId}::uuid, ${apiKeyId}::uuid, ${hash}, now() + make_interval(secs => ${lifeSeconds}))
      RETURNING id, expires_at`);
    return row as { id: string; expiresAt: Date };
  }

  /** Use a link up: of two that try, one gets it. @returns null when it was used, or has expired. */
  async take(tx: Statements, hash: Buffer): Promise<SessionGrant | null> {
    const [row] = await tx.rows<SessionGrant>(Prisma.sql`
      DELETE FROM sign_in_links WHERE token_hash = ${hash} AND expires_at > now() RETURNING account_id, api_key_id`);
    return row ?? null;
  }

  /** Delete links that have expired, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM sign_in_links WHERE id IN (
        SELECT id FROM sign_in_links WHERE expires_at < now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
