import type { JobMetadata, Refusal } from '@millrace/contracts';
import { ACCOUNT_LABEL, KEY_LABEL, capOf, labelRefusal, reasonOf, type Excess } from './label-refusal';

/** The rule of a label and a value, with what their jobs use of it now. */
export interface LabelStanding {
  label: string;
  value: string;
  maxJobs: number | null;
  dailyMicros: bigint | null;
  monthlyMicros: bigint | null;
  /** Jobs that have not ended. */
  live: number;
  /** What was charged today, and this month, with what is held. */
  dayMicros: bigint;
  monthMicros: bigint;
  dayStopped: boolean;
  monthStopped: boolean;
}

/** A job that is asked about. */
export interface CountedJob {
  apiKeyId: string | null;
  /** With the labels of its key. */
  metadata: JobMetadata;
  holdMicros: bigint;
}

/**
 * What the rules of labels, and the caps of an account and its key, leave for jobs that come one after the other. It counts as
 * `countLabelsParts` does, which decides when they are recorded, and by the same rules in the same order.
 */
export class LabelRooms {
  private readonly standings: Map<string, LabelStanding>;
  private readonly reached = new Map<string, Excess>();

  /** @param spendKeys by the id of a key, the keys by whose caps its jobs count. */
  constructor(
    standings: readonly LabelStanding[],
    private readonly spendKeys: SpendKeys,
  ) {
    this.standings = new Map(standings.map((standing) => [nameOf(standing.label, standing.value), { ...standing }]));
  }

  /** Caps for which a job was refused. */
  get capsReached(): Excess[] {
    return [...this.reached.values()];
  }

  /** Count a job. @returns why it is refused, and then it does not count; null where it is not. */
  take(job: CountedJob): Refusal | null {
    const counted = countedBy(job, this.spendKeys).flatMap(
      ([label, value]) => this.standings.get(nameOf(label, value)) ?? [],
    );
    for (const standing of counted) {
      const reason = excessOf(standing, job.holdMicros);
      if (reason === null) continue;
      const cap = capOf(reason);
      if (cap !== null) this.reached.set(`${cap.limit} ${nameOf(cap.label, cap.value)}`, cap);
      return labelRefusal(reason);
    }
    for (const standing of counted) {
      standing.live += 1;
      standing.dayMicros += job.holdMicros;
      standing.monthMicros += job.holdMicros;
    }
    return null;
  }
}

/** By the id of a key, the keys as which and for which it counts. Those of a key that is not in it count by no rule. */
export type SpendKeys = ReadonlyMap<string | null, readonly string[]>;

/** What a job is counted by, in the order in which its rules are looked at: its account, its keys and its labels. */
export function countedBy(
  { apiKeyId, metadata }: Pick<CountedJob, 'apiKeyId' | 'metadata'>,
  spendKeys: SpendKeys,
): [string, string][] {
  const keys = (spendKeys.get(apiKeyId) ?? []).map((id): [string, string] => [KEY_LABEL, id]);
  const all: [string, string][] = [[ACCOUNT_LABEL, ''], ...keys, ...Object.entries(metadata)];
  return all.sort(([one], [other]) => (one < other ? -1 : 1));
}

const nameOf = (label: string, value: string): string => JSON.stringify([label, value]);

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
