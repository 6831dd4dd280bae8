import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { Model } from './model';
import { isOfDeployment, isOwn, isSpelledIn, modelColumns, spellingsOf } from './model.store';

/** How often a use is noted at most, as `use_models` and `ModelUseStore.noteUse` do. */
const NOTED_EVERY = Prisma.sql`interval '1 hour'`;

/**
 * Nothing has used it for so many days: neither a submission that named it, of what only the library has, nor a worker that looked for the models
 * of a job. Its bytes may have taken a day to arrive.
 */
const isIdle = (days: number): Prisma.Sql =>
  Prisma.sql`greatest(m.created_at, m.ready_at, m.last_used_at) < now() - make_interval(days => ${days}::int)`;

const mayGo = (days: number): Prisma.Sql => Prisma.sql`(m.state = 'ready' AND NOT m.shared AND ${isIdle(days)})`;

/** A deployment of its account, or a version of it that takes jobs, names it in the graph with which its workers warm up. */
const isForDeployment = (spellings: readonly string[]): Prisma.Sql => Prisma.sql`EXISTS (
  SELECT FROM deployments d LEFT JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
  CROSS JOIN unnest(${[...spellings]}::text[]) spelling
  WHERE d.account_id = m.account_id AND d.deleted_at IS NULL AND ${isSpelledIn(Prisma.sql`concat_ws(' ', d.warm_up, v.warm_up)`)})`;

/** A model that nothing has used for long, as it was read. */
export type IdleModel = Pick<Model, 'id' | 'accountId' | 'name'>;

/** The SQL of models that nobody uses. */
export class UnusedModelStore {
  /** Accounts that have some, by id. */
  async listAccounts(tx: Statements, days: number, after: string | null, limit: number): Promise<string[]> {
    const rows = await tx.rows<{ accountId: string }>(Prisma.sql`
      SELECT DISTINCT m.account_id FROM models m
      WHERE ${mayGo(days)} AND (${after}::uuid IS NULL OR m.account_id > ${after}::uuid)
      ORDER BY m.account_id LIMIT ${limit}`);
    return rows.map(({ accountId }) => accountId);
  }

  /**
   * Those of an account which no job names that has not ended: two statements, however many there are. A submission notes the use of what only the
   * library has, so graphs are read of those jobs alone that came before all of these were used last: with the usual deadline of jobs there are none.
   */
  async listOf(tx: Statements, accountId: string, days: number): Promise<IdleModel[]> {
    const idle = await tx.rows<IdleModel>(Prisma.sql`
      SELECT m.id, m.account_id, m.name FROM models m WHERE m.account_id = ${accountId}::uuid AND ${mayGo(days)} ORDER BY m.id`);
    if (idle.length === 0) return [];
    const spelled = idle.flatMap(({ id, name }) => spellingsOf(name).map((spelling) => ({ id, name, spelling })));
    const named = await tx.rows<{ id: string }>(Prisma.sql`
      WITH idle AS MATERIALIZED (
        SELECT * FROM json_to_recordset(${JSON.stringify(spelled)}::json) AS i (id uuid, name text, spelling text)
      ), unfinished AS MATERIALIZED (
        SELECT j.id, j.models, j.created_at FROM jobs j WHERE j.account_id = ${accountId}::uuid AND j.delivery <> 'done'
      ), graphs AS (
        SELECT g.workflow FROM unfinished u JOIN job_graphs g ON g.job_id = u.id
        WHERE u.created_at < now() - make_interval(days => ${days}::int) + ${NOTED_EVERY}
      )
      SELECT idle.id FROM idle WHERE idle.name IN (SELECT unnest(u.models) FROM unfinished u)
      UNION SELECT idle.id FROM graphs g JOIN idle ON ${isSpelledIn(Prisma.sql`g.workflow`)}`);
    const ids = new Set(named.map(({ id }) => id));
    return idle.filter(({ id }) => !ids.has(id));
  }

  /**
   * Delete a model that nothing has used for so many days, and record the notice of it for its account.
   *
   * @returns null where a submission or a worker has used it meanwhile, it is shared, or a deployment names it.
   */
  async remove(tx: Statements, { id, accountId, name }: IdleModel, days: number): Promise<Model | null> {
    const [removed] = await tx.rows<Model>(Prisma.sql`
      DELETE FROM models m
      WHERE ${isOwn(accountId, id)} AND ${mayGo(days)} AND NOT ${isForDeployment(spellingsOf(name))} AND NOT ${isOfDeployment}
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
