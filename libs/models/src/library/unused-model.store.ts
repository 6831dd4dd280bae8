import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { Model } from './model';
import { inUse, isOfDeployment, isOwn, isSpelledIn, modelColumns, spellingsOf } from './model.store';

/** Nothing has used it for so many days. A worker notes a use whenever it looks for the models of a job. */
const isIdle = (days: number): Prisma.Sql =>
  Prisma.sql`greatest(m.created_at, m.last_used_at) < now() - make_interval(days => ${days}::int)`;

/** A deployment of its account, or a version of it that takes jobs, names it in the graph with which its workers warm up. */
const isForDeployment = (spellings: readonly string[]): Prisma.Sql => Prisma.sql`EXISTS (
  SELECT FROM deployments d LEFT JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
  CROSS JOIN unnest(${[...spellings]}::text[]) spelling
  WHERE d.account_id = m.account_id AND d.deleted_at IS NULL AND ${isSpelledIn(Prisma.sql`concat_ws(' ', d.warm_up, v.warm_up)`)})`;

/** A model that nothing has used for long, as it was read. */
export type IdleModel = Pick<Model, 'id' | 'accountId' | 'name'>;

/** The SQL of models that nobody uses. */
export class UnusedModelStore {
  /** Of all accounts, by id. Whether something names one, `remove` asks. */
  async list(tx: Statements, days: number, after: string | null, limit: number): Promise<IdleModel[]> {
    return tx.rows(Prisma.sql`
      SELECT m.id, m.account_id, m.name FROM models m
      WHERE m.state = 'ready' AND NOT m.shared AND ${isIdle(days)} AND (${after}::uuid IS NULL OR m.id > ${after}::uuid)
      ORDER BY m.id LIMIT ${limit}`);
  }

  /**
   * Delete a model that nothing has used for so many days, and record the notice of it for its account.
   *
   * @returns null where it was used meanwhile, is shared, or something names it.
   */
  async remove(tx: Statements, { id, accountId, name }: IdleModel, days: number): Promise<Model | null> {
    const spellings = spellingsOf(name);
    const [removed] = await tx.rows<Model>(Prisma.sql`
      DELETE FROM models m
      WHERE ${isOwn(accountId, id)} AND m.state = 'ready' AND NOT m.shared AND ${isIdle(days)}
        AND NOT ${inUse(spellings)} AND NOT ${isForDeployment(spellings)} AND NOT ${isOfDeployment}
      RETURNING ${modelColumns}`);
    if (removed === undefined) return null;
    const { folder, sizeBytes: size_bytes, lastUsedAt } = removed;
    const last_used_at = lastUsedAt?.toISOString() ?? null;
    const data = JSON.stringify({ id, folder, name, size_bytes, last_used_at, reason: 'unused' });
    await tx.rows(Prisma.sql`
      SELECT record_webhook_event(${accountId}::uuid, 'model.deleted', ${data}::jsonb) AS recorded`);
    return removed;
  }
}
