import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** The SQL that ends the lives of messages, secrets and endpoints. Every method does a bounded batch, and returns how many. */
export class WebhookSweepStore {
  /** Messages past their retention, and what is logged of them. Ids are in the order of time. */
  async deleteOld(statements: Statements, keptSeconds: number, batch: number): Promise<number> {
    return statements.execute(Prisma.sql`
      DELETE FROM webhook_messages WHERE id IN (
        SELECT id FROM webhook_messages ORDER BY id LIMIT ${batch}
      ) AND created_at < now() - make_interval(secs => ${keptSeconds})`);
  }

  /** Messages of deleted endpoints. */
  async deleteOrphaned(statements: Statements, batch: number): Promise<number> {
    return statements.execute(Prisma.sql`
      DELETE FROM webhook_messages WHERE id IN (
        SELECT m.id FROM webhook_endpoints e JOIN webhook_messages m ON m.endpoint_id = e.id
        WHERE e.deleted_at IS NOT NULL LIMIT ${batch})`);
  }

  /** Secrets that have expired, and those of deleted endpoints. */
  async deleteSecrets(statements: Statements, batch: number): Promise<number> {
    return statements.execute(Prisma.sql`
      DELETE FROM webhook_secrets WHERE id IN (
        SELECT s.id FROM webhook_secrets s JOIN webhook_endpoints e ON e.id = s.endpoint_id
        WHERE s.expires_at < now() OR e.deleted_at IS NOT NULL LIMIT ${batch})`);
  }

  /** Deleted endpoints of which nothing is left, nor comes: a statement that still saw one has ended long ago. */
  async deleteEndpoints(statements: Statements, batch: number): Promise<number> {
    return statements.execute(Prisma.sql`
      DELETE FROM webhook_endpoints WHERE id IN (
        SELECT e.id FROM webhook_endpoints e
        WHERE e.deleted_at < now() - interval '1 hour' AND NOT EXISTS (SELECT FROM webhook_messages m WHERE m.endpoint_id = e.id)
          AND NOT EXISTS (SELECT FROM webhook_secrets s WHERE s.endpoint_id = e.id)
        LIMIT ${batch})`);
  }
}
