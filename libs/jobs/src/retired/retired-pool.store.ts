import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { deploymentOfPool } from '@millrace/deployments';
import { WorkingPoolsStore } from '../state';

/** Jobs that wait for a version of a deployment that is out of use, and where they can run instead. */
export interface RetiredPool {
  poolId: string;
  toPoolId: string;
}

const working = new WorkingPoolsStore();

/** Of what a pool of a version is called (`libs/deployments/src/version.ts`), its number. */
const numberOf = (poolId: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`coalesce(substring(${poolId} FROM '-v([0-9]+)$')::int, 1)`;

/** The price in the pool of `terms`, but no more than a job `j` was accepted at where an operator took the version of `source` out of use. */
const priceThere = Prisma.sql`
  CASE WHEN source.moved_by_operator THEN least(j.price_micros_per_second, terms.price) ELSE terms.price END`;
const unbilled = Prisma.sql`(j.billable_ms = 0 AND j.lost_engine_ms = 0)`;
/**
 * A job has one price. It gets another one only before anything of it is billed, and only where it holds credits, by which caps
 * know what costs something.
 */
const mayCostMore = Prisma.sql`(j.held_micros > 0 AND ${unbilled})`;
/** Of a class that the operator has retired no worker starts: what would stay in the pool of `source` would wait for ever, and moves as it was agreed. */
const mayMove = Prisma.sql`
  (${mayCostMore} OR j.price_micros_per_second = ${priceThere} OR source.class_retired)`;
const priceAfter = Prisma.sql`
  CASE WHEN ${mayCostMore} THEN ${priceThere} WHEN ${unbilled} THEN least(j.price_micros_per_second, terms.price) ELSE j.price_micros_per_second END`;

/** What jobs leave: the pool of a version that is live or has ended. */
const sourceOf = (poolId: Prisma.Sql): Prisma.Sql => Prisma.sql`LATERAL (
  SELECT version.moved_by_operator, EXISTS (SELECT FROM engine_classes c WHERE c.name = coalesce(version.engine_class, p.engine) AND c.retired_at IS NOT NULL) AS class_retired
  FROM (
    SELECT d.pool_id, d.engine_class, d.moved_by_operator FROM deployments d WHERE d.pool_id = ${poolId}
    UNION ALL SELECT v.pool_id, v.engine_class, v.moved_by_operator FROM deployment_versions v WHERE v.pool_id = ${poolId}
  ) version JOIN pools p ON p.id = version.pool_id)`;

/**
 * The SQL that takes jobs from versions out of use: one that has ended, and one that was rolled back: it is newer than the other one,
 * and has no share. Jobs of an older one without a share run there: the newer one may not be ready yet.
 */
export class RetiredPoolStore {
  /** @param defaultPriceMicrosPerSecond the price of a version that has none of its own. */
  constructor(private readonly defaultPriceMicrosPerSecond: bigint) {}

  /**
   * Pools with jobs that can run elsewhere, `limit` at most; of one deployment where it is given. It begins with the pools with work: a version
   * that has ended is kept, and an account ends as many as it likes.
   */
  async list(tx: Statements, limit: number, deploymentId: string | null): Promise<RetiredPool[]> {
    const some = deploymentId === null ? Prisma.empty : Prisma.sql`AND d.id = ${deploymentId}::uuid`;
    return tx.rows(Prisma.sql`
      WITH working AS MATERIALIZED (
        SELECT pool_id FROM (${working.waitingSql}) waits UNION SELECT pool_id FROM (${working.inFlightSql}) flies
      ), placed AS (
        SELECT w.pool_id, d.pool_id AS own, o.pool_id AS beside, coalesce(o.weight, 0) AS weight
        FROM working w JOIN deployments d ON d.id = ${deploymentOfPool(Prisma.sql`w.pool_id`)} AND d.deleted_at IS NULL ${some}
        LEFT JOIN deployment_versions o ON o.deployment_id = d.id AND o.ended_at IS NULL
      ), retired AS (
        SELECT pool_id, CASE
          WHEN pool_id <> own AND pool_id IS DISTINCT FROM beside THEN CASE WHEN weight > 50 THEN beside ELSE own END
          WHEN pool_id = beside AND weight = 0 AND ${numberOf(Prisma.sql`beside`)} > ${numberOf(Prisma.sql`own`)} THEN own
          WHEN pool_id = own AND weight = 100 AND ${numberOf(Prisma.sql`own`)} > ${numberOf(Prisma.sql`beside`)} THEN beside
        END AS to_pool_id FROM placed
      )
      SELECT r.pool_id, r.to_pool_id FROM retired r
      WHERE r.to_pool_id IS NOT NULL
        AND EXISTS (SELECT FROM jobs j, ${sourceOf(Prisma.sql`r.pool_id`)} source, ${this.terms(Prisma.sql`r.to_pool_id`)} terms
                    WHERE j.pool_id = r.pool_id AND j.delivery IN ('waiting', 'dispatched') AND ${mayMove})
      ORDER BY r.pool_id LIMIT ${limit}`);
  }

  /** What jobs cost in the pool of a live version; no row where there is none. */
  private terms(poolId: Prisma.Sql): Prisma.Sql {
    return Prisma.sql`LATERAL (
      SELECT coalesce(version.price, ${this.defaultPriceMicrosPerSecond}::bigint) AS price
      FROM (
        SELECT d.price_micros_per_second AS price FROM deployments d WHERE d.pool_id = ${poolId}
        UNION ALL
        SELECT v.price_micros_per_second FROM deployment_versions v WHERE v.pool_id = ${poolId} AND v.ended_at IS NULL
      ) version)`;
  }

  /**
   * Let jobs that no worker has claimed wait in another pool, at the price there, `limit` at most, each in its place by priority and age. Accounts whose queues
   * another statement has locked are passed over, and so are jobs that a dispatch or an end holds: a later call moves these. It waits for none
   * of them, so that it may lock queues before jobs, as a dispatch does. Each statement of the transaction sees what the one before has locked.
   *
   * @returns how many.
   */
  async move(tx: Statements, pools: RetiredPool, limit: number): Promise<number> {
    const accounts = await this.lockQueues(tx, pools, limit);
    if (accounts.length === 0) return 0;
    const moved = await tx.rows<{ accountId: string; waiting: number; dispatched: number }>(Prisma.sql`
      WITH old AS (
        SELECT j.id, j.delivery, ${priceAfter} AS price
        FROM jobs j, ${sourceOf(Prisma.sql`${pools.poolId}`)} source, ${this.terms(Prisma.sql`${pools.toPoolId}`)} terms
        WHERE j.pool_id = ${pools.poolId} AND j.account_id = ANY(${accounts}::uuid[]) AND j.delivery IN ('waiting', 'dispatched') AND ${mayMove}
        ORDER BY j.id LIMIT ${limit} FOR UPDATE OF j SKIP LOCKED
      ), moved AS (
        UPDATE jobs j SET pool_id = ${pools.toPoolId}, price_micros_per_second = old.price, delivery = 'waiting', dispatched_at = NULL, updated_at = now()
        FROM old WHERE j.id = old.id RETURNING j.account_id, old.delivery
      )
      SELECT account_id, (count(*) FILTER (WHERE delivery = 'waiting'))::int AS waiting,
             (count(*) FILTER (WHERE delivery = 'dispatched'))::int AS dispatched
      FROM moved GROUP BY account_id ORDER BY account_id`);
    if (moved.length === 0) return 0;
    await this.count(tx, pools, moved);
    return moved.reduce((sum, { waiting, dispatched }) => sum + waiting + dispatched, 0);
  }

  /**
   * The queues of both pools, of accounts with jobs to move: but not their keys, to which the jobs that others move at this moment refer. One that
   * is missing is made, unless the account is locked, to which it refers.
   *
   * @returns the accounts, `limit` at most.
   */
  private async lockQueues(tx: Statements, { poolId, toPoolId }: RetiredPool, limit: number): Promise<string[]> {
    const hasJobs = Prisma.sql`q.pool_id = ${poolId} AND (q.waiting > 0 OR q.account_id IN (
      SELECT j.account_id FROM jobs j WHERE j.pool_id = ${poolId} AND j.delivery = 'dispatched'))`;
    await tx.execute(Prisma.sql`
      INSERT INTO account_queues (pool_id, account_id, weight, running_limit, pass)
      SELECT p.id, q.account_id, q.weight, q.running_limit, p.virtual_time
      FROM account_queues q JOIN accounts a ON a.id = q.account_id JOIN pools p ON p.id = ${toPoolId}
      WHERE ${hasJobs} AND NOT EXISTS (SELECT FROM account_queues t WHERE t.pool_id = p.id AND t.account_id = q.account_id)
      ORDER BY q.account_id LIMIT ${limit} FOR KEY SHARE OF a SKIP LOCKED
      ON CONFLICT (pool_id, account_id) DO NOTHING`);
    const locked = await tx.rows<{ accountId: string }>(Prisma.sql`
      SELECT q.account_id FROM account_queues q JOIN account_queues t ON t.pool_id = ${toPoolId} AND t.account_id = q.account_id
      WHERE ${hasJobs} ORDER BY q.account_id LIMIT ${limit} FOR NO KEY UPDATE OF q, t SKIP LOCKED`);
    return locked.map(({ accountId }) => accountId);
  }

  private async count(
    tx: Statements,
    { poolId, toPoolId }: RetiredPool,
    moved: readonly { accountId: string; waiting: number; dispatched: number }[],
  ): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE account_queues q
      SET waiting = q.waiting + CASE q.pool_id WHEN p.id THEN m.waiting + m.dispatched ELSE - m.waiting END,
          in_flight = q.in_flight - CASE q.pool_id WHEN p.id THEN 0 ELSE m.dispatched END,
          head_id = CASE WHEN q.pool_id <> p.id THEN q.head_id END,
          pass = CASE WHEN q.pool_id = p.id AND NOT q.eligible THEN greatest(q.pass, p.virtual_time) ELSE q.pass END
      FROM jsonb_to_recordset(${JSON.stringify(
        moved.map(({ accountId, ...counts }) => ({ account_id: accountId, ...counts })),
      )}::jsonb) AS m(account_id uuid, waiting int, dispatched int), pools p
      WHERE p.id = ${toPoolId} AND q.account_id = m.account_id AND q.pool_id IN (${poolId}, ${toPoolId})`);
  }
}
