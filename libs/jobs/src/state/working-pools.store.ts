import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { isSetAside } from './model-room.store';

/**
 * The SQL that finds pools with work. Each statement leaps from one such pool to the next in an index, so that thousands of
 * pools without work (idle deployments, deleted ones) cost nothing: https://wiki.postgresql.org/wiki/Loose_indexscan.
 */
export class WorkingPoolsStore {
  /** Pools in which jobs wait. */
  async listWaiting(statements: Statements): Promise<string[]> {
    return idsOf(await statements.rows(this.waitingSql));
  }

  /** Pools of which attempts are in the lane or run. */
  async listInFlight(statements: Statements): Promise<string[]> {
    return idsOf(await statements.rows(this.inFlightSql));
  }

  /** Pools of which jobs are set aside. */
  async listWithSetAside(statements: Statements): Promise<string[]> {
    return idsOf(await statements.rows(this.setAsideSql));
  }

  /** The statement of `listWaiting`, whose plan a test checks. */
  readonly waitingSql = leaps(Prisma.sql`account_turns`, Prisma.sql`true`);

  /** The statement of `listInFlight`, whose plan a test checks. */
  readonly inFlightSql = leaps(Prisma.sql`jobs`, Prisma.sql`delivery IN ('dispatched', 'leased')`);

  /** The statement of `listWithSetAside`: one look for each pool with attempts in flight. */
  readonly setAsideSql = Prisma.sql`
    SELECT flying.pool_id FROM (${this.inFlightSql}) flying
    WHERE EXISTS (SELECT FROM jobs j WHERE j.pool_id = flying.pool_id AND ${isSetAside})`;
}

/** @param where the predicate of an index of the table that begins with `pool_id`. */
function leaps(table: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    WITH RECURSIVE pool AS (
      (SELECT pool_id FROM ${table} WHERE ${where} ORDER BY pool_id LIMIT 1)
      UNION ALL
      SELECT (SELECT t.pool_id FROM ${table} t WHERE ${where} AND t.pool_id > pool.pool_id ORDER BY t.pool_id LIMIT 1)
      FROM pool WHERE pool.pool_id IS NOT NULL
    )
    SELECT pool_id FROM pool WHERE pool_id IS NOT NULL`;
}

function idsOf(rows: { poolId: string }[]): string[] {
  return rows.map(({ poolId }) => poolId);
}
