/**
 * What happens when a cap is reached. `stop`: nothing is held beyond it, no job is accepted until the day or month is over or the cap is
 * raised, and what waits or runs is canceled. `finish`: no job is accepted that would go beyond it, but those that run may. Null: nothing is
 * held beyond it, and a running job that needs more is ended.
 */
export const AT_CAP = ['stop', 'finish'] as const;
export type AtCap = (typeof AT_CAP)[number];

/** What an account allows the jobs of a label. Null: no limit of this kind. */
export interface LabelLimits {
  /** Jobs that have not ended. */
  maxJobs: number | null;
  /** What jobs may cost in a day, and in a month (UTC), in micro-credits: what is charged and what is held together. */
  dailyMicros: bigint | null;
  monthlyMicros: bigint | null;
  dailyAtCap: AtCap | null;
  monthlyAtCap: AtCap | null;
  /** How long they are kept, outputs and all, where that is shorter than the service keeps them. */
  retentionSeconds: number | null;
}

/** A rule for a label with one value or, where that is null, with any value that has no rule of its own, each by itself. */
export interface LabelRuleDraft extends LabelLimits {
  label: string;
  value: string | null;
}

/** Whose rule it is. */
export type RuleKey = Pick<LabelRuleDraft, 'label' | 'value'>;

export interface LabelRule extends LabelRuleDraft {
  id: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What the jobs of a label use of its rule. */
export interface LabelUse {
  label: string;
  value: string;
  live: number;
  heldMicros: bigint;
  dayMicros: bigint;
  monthMicros: bigint;
}
