import { Prisma } from '@prisma/client';
import type { JobMetadata, Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { labelRefusal, reasonOf } from './label-refusal';
import { dayMicros, monthMicros } from './label-use.store';

/** A rule of a label of a job, with what its jobs use of it now. */
interface LabelStanding {
  label: string;
  value: string;
  maxJobs: number | null;
  dailyMicros: bigint | null;
  monthlyMicros: bigint | null;
  live: number;
  dayMicros: bigint;
  monthMicros: bigint;
}

/**
 * Why the rules of its labels would refuse a job now; null where they would not. Records nothing and locks nothing: what it finds may have
 * changed when the job is submitted, whose statement decides (`countLabelsParts`, with the same rules in the same order).
 *
 * @param metadata of the job, with the labels of its key.
 */
export async function labelOutlook(
  statements: Statements,
  accountId: string,
  metadata: JobMetadata,
  holdMicros: bigint,
): Promise<Refusal | null> {
  if (Object.keys(metadata).length === 0) return null;
  for (const standing of await standings(statements, accountId, metadata)) {
    const reason = excessOf(standing, holdMicros);
    if (reason !== null) return labelRefusal(reason);
  }
  return null;
}

function standings(statements: Statements, accountId: string, metadata: JobMetadata): Promise<LabelStanding[]> {
  return statements.rows(Prisma.sql`
    SELECT DISTINCT ON (m.key) m.key AS label, m.value, r.max_jobs, r.daily_micros, r.monthly_micros, coalesce(u.live, 0)::int AS live,
      coalesce(u.held_micros + ${dayMicros}, 0)::bigint AS day_micros, coalesce(u.held_micros + ${monthMicros}, 0)::bigint AS month_micros
    FROM jsonb_each_text(${JSON.stringify(metadata)}::jsonb) m
    JOIN label_rules r ON r.account_id = ${accountId}::uuid AND r.label = m.key AND (r.value = m.value OR r.value IS NULL)
    LEFT JOIN label_use u ON u.account_id = r.account_id AND u.label = m.key AND u.value = m.value
    ORDER BY m.key, r.value NULLS LAST`);
}

function excessOf(standing: LabelStanding, holdMicros: bigint): string | null {
  const { maxJobs, dailyMicros, monthlyMicros } = standing;
  if (maxJobs !== null && standing.live + 1 > maxJobs) return reasonOf(standing, 'max_jobs', maxJobs);
  if (holdMicros === 0n) return null;
  if (dailyMicros !== null && standing.dayMicros + holdMicros > dailyMicros) {
    return reasonOf(standing, 'daily_micros', Number(dailyMicros));
  }
  if (monthlyMicros !== null && standing.monthMicros + holdMicros > monthlyMicros) {
    return reasonOf(standing, 'monthly_micros', Number(monthlyMicros));
  }
  return null;
}
