import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** A secret of an endpoint, as it is stored. */
export interface SealedSecret {
  endpointId: string;
  sealed: Buffer;
}

/** The secrets that count of each endpoint, newest first. */
export async function liveSecrets(statements: Statements, endpointIds: readonly string[]): Promise<SealedSecret[]> {
  return statements.rows(Prisma.sql`
    SELECT endpoint_id, sealed FROM webhook_secrets
    WHERE endpoint_id = ANY (${endpointIds}::uuid[]) AND (expires_at IS NULL OR expires_at > now())
    ORDER BY id DESC`);
}

/** A secret that was sealed with a former key of the ring. */
export interface FormerlySealed extends SealedSecret {
  id: string;
  accountId: string;
}

/** Secrets that begin otherwise than those that are sealed now. Reads all secrets there are, of which an endpoint has a few. */
export async function listFormerlySealed(
  statements: Statements,
  head: Buffer,
  after: string | null,
  limit: number,
): Promise<FormerlySealed[]> {
  return statements.rows(Prisma.sql`
    SELECT s.id, s.endpoint_id, s.sealed, e.account_id FROM webhook_secrets s JOIN webhook_endpoints e ON e.id = s.endpoint_id
    WHERE substring(s.sealed FROM 1 FOR ${head.length}::int) <> ${head} AND (${after}::uuid IS NULL OR s.id > ${after}::uuid)
    ORDER BY s.id LIMIT ${limit}`);
}

export async function replaceSealed(statements: Statements, id: string, sealed: Buffer): Promise<boolean> {
  return (
    (await statements.execute(Prisma.sql`UPDATE webhook_secrets SET sealed = ${sealed} WHERE id = ${id}::uuid`)) > 0
  );
}
