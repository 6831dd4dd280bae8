import { Prisma } from '@prisma/client';
import type { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { KEY_LABEL } from './label-refusal';
import { LabelRooms, countedBy, type CountedJob, type LabelStanding, type SpendKeys } from './label-rooms';
import { dayMicros, inThisMonth, isToday, monthMicros } from './label-use.store';

/** A job that is asked about. */
export interface Outlook extends CountedJob {
  accountId: string;
}

/**
 * Why the rules of its labels, and the caps of its account and key, would refuse a job now; null where they would not. Records nothing and locks nothing: what it finds may have
 * changed when the job is submitted, whose statement decides (`countLabelsParts`, with the same rules in the same order).
 */
export async function labelOutlook(statements: Statements, { accountId, ...job }: Outlook): Promise<Refusal | null> {
  return (await labelRooms(statements, accountId, [job])).take(job);
}

/** What the rules of an account leave now for these jobs, as `labelOutlook` says it of one. */
export async function labelRooms(
  statements: Statements,
  accountId: string,
  jobs: readonly Pick<CountedJob, 'apiKeyId' | 'metadata'>[],
): Promise<LabelRooms> {
  const ruled = await ruledLabels(statements, accountId);
  if (ruled.size === 0) return new LabelRooms([], new Map());
  const spendKeys = ruled.has(KEY_LABEL) ? await spendKeysOf(statements, jobs) : new Map<null, never>();
  const pairs = new Map<string, [string, string]>();
  for (const job of jobs) {
    for (const pair of countedBy(job, spendKeys)) if (ruled.has(pair[0])) pairs.set(JSON.stringify(pair), pair);
  }
  return new LabelRooms(await standingsOf(statements, accountId, [...pairs.values()]), spendKeys);
}

async function spendKeysOf(statements: Statements, jobs: readonly Pick<CountedJob, 'apiKeyId'>[]): Promise<SpendKeys> {
  const ids = [...new Set(jobs.flatMap(({ apiKeyId }) => apiKeyId ?? []))];
  const rows = await statements.rows<{ id: string; keys: string[] }>(Prisma.sql`
    SELECT asked.id, spend_keys_of(asked.id) AS keys FROM unnest(${ids}::uuid[]) AS asked (id)`);
  return new Map(rows.map(({ id, keys }) => [id, keys]));
}

async function ruledLabels(statements: Statements, accountId: string): Promise<Set<string>> {
  const rows = await statements.rows<{ label: string }>(Prisma.sql`
    SELECT DISTINCT label FROM label_rules WHERE account_id = ${accountId}::uuid`);
  return new Set(rows.map(({ label }) => label));
}

function standingsOf(
  statements: Statements,
  accountId: string,
  pairs: readonly [string, string][],
): Promise<LabelStanding[]> {
  const [labels, values] = [pairs.map(([label]) => label), pairs.map(([, value]) => value)];
  return statements.rows(Prisma.sql`
    SELECT DISTINCT ON (m.label, m.value) m.label, m.value, r.max_jobs, r.daily_micros, r.monthly_micros, coalesce(u.live, 0)::int AS live,
      coalesce(u.held_micros + ${dayMicros}, 0)::bigint AS day_micros, coalesce(u.held_micros + ${monthMicros}, 0)::bigint AS month_micros,
      coalesce(r.daily_at_cap = 'stop' AND ${isToday('u.day_stopped_on')}, false) AS day_stopped,
      coalesce(r.monthly_at_cap = 'stop' AND ${inThisMonth('u.month_stopped_on')}, false) AS month_stopped
    FROM unnest(${labels}::text[], ${values}::text[]) AS m (label, value)
    JOIN label_rules r ON r.account_id = ${accountId}::uuid AND r.label = m.label AND (r.value = m.value OR r.value IS NULL)
    LEFT JOIN label_use u ON u.account_id = r.account_id AND u.label = m.label AND u.value = m.value
    ORDER BY m.label, m.value, r.value NULLS LAST`);
}
