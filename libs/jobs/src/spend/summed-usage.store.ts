import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** What the jobs of a key were charged on a day. */
interface UsageSum {
  /** Null: of jobs that no key submitted. */
  apiKeyId: string | null;
  /** In UTC, as `yyyy-mm-dd`. */
  day: string;
  /** In decimal. */
  micros: string;
}

/** What an account was charged this month, up to a time of which all is recorded. */
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
 * Sum what an account was charged since the month (UTC) began, up to ten minutes ago, by key and day. A month may have millions of records: it is
 * read in pages, and before the locks that jobs of the account wait for are taken.
 *
 * @param pageRecords that one statement reads.
 */
export async function sumUsage(
  statements: Statements,
  accountId: string,
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
    const page = await readPage(statements, accountId, { from, until, pageRecords });
    for (const sum of page.sums) {
      const key = `${sum.day} ${sum.apiKeyId}`;
      sums.set(key, { ...sum, micros: String(BigInt(sum.micros) + BigInt(sums.get(key)?.micros ?? 0)) });
    }
    from = page.to;
  }
  return { until, sums: [...sums.values()] };
}

async function readPage(
  statements: Statements,
  accountId: string,
  { from, until, pageRecords }: { from: Date; until: Date; pageRecords: number },
): Promise<UsagePage> {
  const [page] = await statements.rows<UsagePage>(Prisma.sql`
    WITH last AS (
      SELECT finished_at FROM usage_records
      WHERE account_id = ${accountId}::uuid AND finished_at >= ${from}::timestamptz AND finished_at < ${until}::timestamptz
      ORDER BY finished_at OFFSET ${pageRecords - 1} LIMIT 1
    ), page AS (
      SELECT coalesce((SELECT finished_at + interval '1 ms' FROM last), ${until}::timestamptz) AS to
    ), sums AS (
      SELECT r.api_key_id AS "apiKeyId", (r.finished_at AT TIME ZONE 'UTC')::date AS day, sum(r.charged_micros)::text AS micros
      FROM usage_records r
      WHERE r.account_id = ${accountId}::uuid AND r.finished_at >= ${from}::timestamptz AND r.finished_at < (SELECT p.to FROM page p)
      GROUP BY 1, 2
    )
    SELECT p.to, (SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') FROM sums s) AS sums FROM page p`);
  if (page === undefined) throw new Error('a page of usage returned no row');
  return page;
}
