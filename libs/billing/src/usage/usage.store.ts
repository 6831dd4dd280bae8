import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { USAGE_ROWS, type UsageGrouping, type UsageReport, type UsageRow, type UsageScope } from './usage';
import type { UsageTable, UsageTableRow } from './usage';

/** A usage record has the time at which the transaction of its job's end began, which has committed after so many minutes. */
const SETTLED_MINUTES = 10;

/** The SQL of usage: sums over what jobs were charged when they ended. */
export class UsageStore {
  /** Forget the labels of jobs that ended more than `keptDays` ago, at most `limit`. @returns how many. */
  async forgetLabels(tx: Statements, keptDays: number, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE usage_records SET labels = '{}' WHERE job_id IN (
        SELECT job_id FROM usage_records
        WHERE finished_at < now() - make_interval(days => ${keptDays}::int) AND labels <> '{}'::jsonb
        ORDER BY finished_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }

  /**
   * Use of an account, or of its sub-key, by jobs that ended in [from, to). Days come in order, other groups by charge.
   */
  async report(
    tx: Statements,
    scope: UsageScope,
    span: { from: Date; to: Date },
    grouping: UsageGrouping,
  ): Promise<UsageReport> {
    const order = grouping.by === 'day' ? Prisma.sql`"group"` : Prisma.sql`charged_micros DESC, "group" NULLS LAST`;
    const [total, ...groups] = await tx.rows<UsageRow>(Prisma.sql`
      SELECT g AS "group", count(*)::int AS jobs, coalesce(sum(billable_ms), 0)::bigint AS billable_ms,
        coalesce(sum(charged_micros), 0)::bigint AS charged_micros
      FROM ${ofSpan(scope, span, grouping)}
      GROUP BY GROUPING SETS ((g), ())
      ORDER BY grouping(g) DESC, ${order} LIMIT ${USAGE_ROWS + 2}`);
    if (total === undefined) throw new Error('a sum over nothing is a row of zeros');
    const { jobs, billableMs, chargedMicros } = total;
    return {
      rows: groups.slice(0, USAGE_ROWS),
      total: { jobs, billableMs, chargedMicros },
      truncated: groups.length > USAGE_ROWS,
    };
  }

  /**
   * A page of the groups of such a report, in the order of their names: of their bytes, with jobs that have no group at the end.
   *
   * @param after the last group of the page before; null: the first page.
   */
  async groups(tx: Statements, table: UsageTable, after: string | null): Promise<UsageTableRow[]> {
    const later = after === null ? Prisma.empty : Prisma.sql`WHERE g COLLATE "C" > ${after} OR g IS NULL`;
    return tx.rows(Prisma.sql`
      SELECT g AS "group", count(*)::int AS jobs, sum(billable_ms)::bigint AS billable_ms,
        sum(charged_micros)::bigint AS charged_micros, ${checksumOf(table)} AS settled
      FROM ${ofSpan(table.scope, table.span, table.grouping)} ${later}
      GROUP BY g ORDER BY g COLLATE "C" NULLS LAST LIMIT ${USAGE_ROWS}`);
  }

  /** The end of the time in which no job can end any more. */
  async settledBefore(tx: Statements): Promise<Date> {
    const [row] = await tx.rows<{ at: Date }>(
      Prisma.sql`SELECT now() - make_interval(mins => ${SETTLED_MINUTES}::int) AS at`,
    );
    if (row === undefined) throw new Error('the time of the database is one row');
    return row.at;
  }

  /** What `settled` of all rows of a table sums to where each job is in one of them. */
  async settled(tx: Statements, table: UsageTable): Promise<bigint> {
    const [row] = await tx.rows<{ settled: bigint }>(Prisma.sql`
      SELECT ${checksumOf(table)} AS settled FROM ${ofSpan(table.scope, table.span, table.grouping)}`);
    return row?.settled ?? 0n;
  }
}

/** The jobs of a report, each with its group `g`. */
function ofSpan(
  { accountId, labels }: UsageScope,
  { from, to }: { from: Date; to: Date },
  by: UsageGrouping,
): Prisma.Sql {
  const counted = labels === null ? Prisma.empty : Prisma.sql`AND labels @> ${JSON.stringify(labels)}::jsonb`;
  return Prisma.sql`(
    SELECT ${groupOf(by)} AS g, job_id, finished_at, billable_ms, charged_micros FROM usage_records
    WHERE account_id = ${accountId}::uuid AND finished_at >= ${from} AND finished_at < ${to} ${counted}
  ) u`;
}

/** Of each settled job 32 bits: a count would miss one job that is in two rows beside another that is in none. */
function checksumOf({ settledBefore }: UsageTable): Prisma.Sql {
  return Prisma.sql`coalesce(sum(uuid_hash_extended(job_id, 0) & 4294967295)
    FILTER (WHERE finished_at < ${settledBefore}::timestamptz), 0)::bigint`;
}

function groupOf(grouping: UsageGrouping): Prisma.Sql {
  switch (grouping.by) {
    case 'day':
      return Prisma.sql`to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
    case 'key':
      return Prisma.sql`api_key_id::text`;
    case 'deployment':
      return Prisma.sql`deployment_id::text`;
    case 'version':
      return Prisma.sql`deployment_id::text || '/' || coalesce(deployment_version, 1)`;
    case 'label':
      return Prisma.sql`labels ->> ${grouping.label}`;
  }
}
