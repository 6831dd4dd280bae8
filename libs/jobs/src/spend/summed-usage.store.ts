import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { KEY_LABEL, type RuleKey } from '../labels';

/** What is charged to a value of a cap, on a day or before it. */
interface UsageSum {
  /** A key as which jobs count; empty for the account. */
  value: string;
  /** In UTC, as `yyyy-mm-dd`: the last day that is summed, or the first of its month for all days before. */
  day: string;
  /** In decimal. */
  micros: string;
}

/** What a cap counts of this month, up to a time of which all is recorded: at most two sums for each of its values. */
export interface SummedUsage {
  /** Usage from here on is not in the sums. */
  until: Date;
  sums: UsageSum[];
}

interface UsagePage {
  to: Date;
  sums: UsageSum[];
}

/** All usage is still to be read. */
export const NOTHING_SUMMED: SummedUsage = { until: new Date(0), sums: [] };

/** A record has the time at which its transaction began, and no transaction is under way for so long. */
const SETTLED_AFTER = Prisma.sql`interval '10 minutes'`;
/** Records that one statement reads. */
const PAGE = 100_000;

/**
 * The values that a cap counts, of what is grouped by key as `g`, as `counted (value)`: after the grouping, since it is looked up for each row.
 *
 * @returns a join, and the condition on its rows.
 */
export function countedValues({ label, value }: RuleKey): Prisma.Sql {
  if (label !== KEY_LABEL) return Prisma.sql`CROSS JOIN (VALUES ('')) AS counted (value)`;
  return Prisma.sql`CROSS JOIN LATERAL unnest(spend_keys_of(g.api_key_id)) AS counted (value)
    WHERE ${value}::text IS NULL OR counted.value::text = ${value}::text`;
}

/** What one of the caps that were summed together (`value` null) counts of it. */
export function sumsOf({ until, sums }: SummedUsage, { value }: RuleKey): SummedUsage {
  return value === null ? { until, sums } : { until, sums: sums.filter((sum) => sum.value === value) };
}

/**
 * Sum what an account was charged since the month (UTC) began, up to ten minutes ago, by the values of a cap. A month may have millions of
 * records: it is read in pages, and before the locks that jobs of the account wait for are taken.
 *
 * @param cap of the account or of a key: one value; of each key: as many as the account's keys.
 * @param pageRecords that one statement reads.
 */
export async function sumUsage(
  statements: Statements,
  accountId: string,
  cap: RuleKey,
  pageRecords: number = PAGE,
): Promise<SummedUsage> {
  const [span] = await statements.rows<{ since: Date; until: Date }>(Prisma.sql`
    SELECT since, greatest(since, date_trunc('milliseconds', now()) - ${SETTLED_AFTER}) AS until
    FROM (SELECT date_trunc('month', now(), 'UTC') AS since) m`);
  if (span === undefined) throw new Error('a span of time returned no row');
  const { since, until } = span;
  const sums = new Map<string, UsageSum>();
  let from = since;
  while (from < until) {
    const page = await readPage(statements, accountId, cap, { from, until, pageRecords });
    for (const sum of page.sums) {
      const key = `${sum.day} ${sum.value}`;
      sums.set(key, { ...sum, micros: String(BigInt(sum.micros) + BigInt(sums.get(key)?.micros ?? 0)) });
    }
    from = page.to;
  }
  return { until, sums: [...sums.values()] };
}

async function readPage(
  statements: Statements,
  accountId: string,
  cap: RuleKey,
  { from, until, pageRecords }: { from: Date; until: Date; pageRecords: number },
): Promise<UsagePage> {
  const [page] = await statements.rows<UsagePage>(Prisma.sql`
    WITH last AS (
      SELECT finished_at FROM usage_records
      WHERE account_id = ${accountId}::uuid AND finished_at >= ${from}::timestamptz AND finished_at < ${until}::timestamptz
      ORDER BY finished_at OFFSET ${pageRecords - 1} LIMIT 1
    ), page AS (
      SELECT coalesce((SELECT finished_at + interval '1 ms' FROM last), ${until}::timestamptz) AS to,
        date_trunc('day', ${until}::timestamptz, 'UTC') AS last_day, date_trunc('month', ${until}::timestamptz, 'UTC') AS month
    ), by_key AS (
      SELECT r.api_key_id, r.finished_at >= (SELECT p.last_day FROM page p) AS is_of_last_day, sum(r.charged_micros) AS micros
      FROM usage_records r
      WHERE r.account_id = ${accountId}::uuid AND r.finished_at >= ${from}::timestamptz AND r.finished_at < (SELECT p.to FROM page p)
      GROUP BY 1, 2
    ), sums AS (
      SELECT counted.value::text AS value, g.is_of_last_day, sum(g.micros)::text AS micros
      FROM by_key g ${countedValues(cap)} GROUP BY 1, 2
    )
    SELECT p.to, (
      SELECT coalesce(jsonb_agg(jsonb_build_object('value', s.value, 'micros', s.micros,
        'day', (CASE WHEN s.is_of_last_day THEN p.last_day ELSE p.month END AT TIME ZONE 'UTC')::date)), '[]')
      FROM sums s) AS sums
    FROM page p`);
  if (page === undefined) throw new Error('a page of usage returned no row');
  return page;
}
