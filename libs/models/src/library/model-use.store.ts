import { Prisma } from '@prisma/client';
import type { ModelFile, ModelName } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** How often a use is noted at most: a model may be found a thousand times a second. */
const NOTED_EVERY = '1 hour';

/** The SQL of what reads models for jobs. An account finds its own and shared ones. */
export class ModelUseStore {
  /** The models that an account means by names: in each folder its own before the shared one. */
  async find(tx: Statements, accountId: string, names: readonly string[]): Promise<(ModelFile & { id: string })[]> {
    const isMeant = Prisma.sql`m.name = ANY(${[...names]}::text[]) AND m.state = 'ready'`;
    return tx.rows(Prisma.sql`
      SELECT DISTINCT ON (m.folder, m.name) m.id, m.folder, m.name, m.digest, m.size_bytes::float8 FROM (
        SELECT m.*, true AS own FROM models m WHERE m.account_id = ${accountId}::uuid AND ${isMeant}
        UNION ALL SELECT m.*, false FROM models m WHERE m.shared AND ${isMeant}
      ) m
      ORDER BY m.folder, m.name, m.own DESC`);
  }

  /** What an account may use, by its names: its own first. `limit` of its own at most, and as many of what others share. */
  async listNames(tx: Statements, accountId: string, limit: number): Promise<(ModelName & { shared: boolean })[]> {
    return tx.rows(Prisma.sql`
      SELECT m.folder, m.name, bool_or(m.shared) AS shared FROM (
        (SELECT o.folder, o.name, o.shared, true AS own FROM models o
          WHERE o.account_id = ${accountId}::uuid AND o.state = 'ready' ORDER BY o.folder, o.name LIMIT ${limit})
        UNION ALL (SELECT s.folder, s.name, true, false FROM models s
          WHERE s.shared AND s.state = 'ready' AND s.account_id <> ${accountId}::uuid ORDER BY s.folder, s.name LIMIT ${limit})
      ) m
      GROUP BY m.folder, m.name ORDER BY bool_or(m.own) DESC, m.folder, m.name`);
  }

  /** Note that models are used now. Those of which another statement notes the same are left to it. */
  async noteUse(tx: Statements, ids: readonly string[]): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE models SET last_used_at = now() WHERE id IN (
        SELECT id FROM models
        WHERE id = ANY(${ids}::uuid[]) AND coalesce(last_used_at, '-infinity') < now() - ${NOTED_EVERY}::interval
        FOR NO KEY UPDATE SKIP LOCKED)`);
  }

  /** The asset with this content that an account may read as a model. */
  async contentOf(
    tx: Statements,
    accountId: string,
    digest: string,
  ): Promise<{ id: string; accountId: string } | null> {
    const [row] = await tx.rows<{ id: string; accountId: string }>(Prisma.sql`
      SELECT m.asset_id AS id, m.account_id FROM models m
      WHERE m.digest = ${digest} AND m.state = 'ready' AND (m.account_id = ${accountId}::uuid OR m.shared)
      ORDER BY m.account_id <> ${accountId}::uuid LIMIT 1`);
    return row ?? null;
  }
}
