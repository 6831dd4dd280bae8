import { Prisma } from '@prisma/client';
import type { JobMetadata, Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { labelRefusal, reasonOf } from './label-refusal';
import { countedBy, dayMicros, monthMicros, today } from './label-use.store';

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
  dayStopped: boolean;
  monthStopped: boolean;
}

/** A job that is asked about. */
export interface Outlook {
  accountId: string;
  apiKeyId: string | null;
  /** With the labels of its key. */
  metadata: JobMetadata;
  holdMicros: bigint;
}

/**
 * Why the rules of its labels, and the caps of its account and key, would refuse a job now; null where they would not. Records nothing and locks nothing: what it finds may have
 * changed when the job is submitted, whose statement decides (`countLabelsParts`, with the same rules in the same order).
 */
export async function labelOutlook(statements: Statements, job: Outlook): Promise<Refusal | null> {
  for (const standing of await standings(statements, job)) {
    const reason = excessOf(standing, job.holdMicros);
    if (reason !== null) return labelRefusal(reason);
  }
  return null;
}

function standings(statements: Statements, { accountId, apiKeyId, metadata }: Outlook): Promise<LabelStanding[]> {
  return statements.rows(Prisma.sql`
    SELECT DISTINCT ON (m.key) m.key AS label, m.value, r.max_jobs, r.daily_micros, r.monthly_micros, coalesce(u.live, 0)::int AS live,
      coalesce(u.held_micros + ${dayMicros}, 0)::bigint AS day_micros, coalesce(u.held_micros + ${monthMicros}, 0)::bigint AS month_micros,
      coalesce(r.daily_at_cap = 'stop' AND u.day_stopped_on = ${today}, false) AS day_stopped,
      coalesce(r.monthly_at_cap = 'stop' AND date_trunc('month', u.month_stopped_on) = date_trunc('month', ${today}), false) AS month_stopped
    FROM ${countedBy(Prisma.sql`${JSON.stringify(metadata)}::jsonb`, Prisma.sql`${apiKeyId}::uuid`)} m
    JOIN label_rules r ON r.account_id = ${accountId}::uuid AND r.label = m.key AND (r.value = m.value OR r.value IS NULL)
    LEFT JOIN label_use u ON u.account_id = r.account_id AND u.label = m.key AND u.value = m.value
    ORDER BY m.key, r.value NULLS LAST`);
}

function excessOf(standing: LabelStanding, holdMicros: bigint): string | null {
  const { maxJobs, dailyMicros, monthlyMicros } = standing;
  if (maxJobs !== null && standing.live + 1 > maxJobs) return reasonOf(standing, 'max_jobs', maxJobs);
  if (holdMicros === 0n) return null;
  if (dailyMicros !== null && (standing.dayStopped || standing.dayMicros + holdMicros > dailyMicros)) {
    return reasonOf(standing, 'daily_micros', Number(dailyMicros));
  }
  if (monthlyMicros !== null && (standing.monthStopped || standing.monthMicros + holdMicros > monthlyMicros)) {
    return reasonOf(standing, 'monthly_micros', Number(monthlyMicros));
  }
  return null;
}
