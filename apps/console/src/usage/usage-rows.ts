import type { Use, UsageReport } from '../api/credits';
import { formatCredits } from '../ui/format';

const DAY_MS = 86_400_000;

/** What bars stand for: credits, or jobs where nothing costs credits. */
export type Measure = 'charged_micros' | 'jobs';

export function formatMeasure(use: Use, measure: Measure): string {
  if (measure === 'charged_micros') return `${formatCredits(use.charged_micros)} credits`;
  return use.jobs === 1 ? '1 job' : `${use.jobs} jobs`;
}

/** Every day of a report, in order; those without a job, which it leaves out, are zero. */
export function daysOf({ usage, from, to }: UsageReport): (Use & { day: string })[] {
  const known = new Map(usage.map((row) => [row.group, row]));
  const days: (Use & { day: string })[] = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    const { jobs, billable_ms, charged_micros } = known.get(day) ?? { jobs: 0, billable_ms: 0, charged_micros: 0 };
    days.push({ day, jobs, billable_ms, charged_micros });
  }
  return days;
}

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A day for people: `23 Nov`. */
export const formatDay = (day: string): string => DAY.format(Date.parse(day));
