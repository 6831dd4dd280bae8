/** What an account allows the jobs of a label. Null: no limit of this kind. */
export interface LabelLimits {
  /** Jobs that have not ended. */
  maxJobs: number | null;
  /** What jobs may cost in a day, and in a month (UTC), in micro-credits: what is charged and what is held together. */
  dailyMicros: bigint | null;
  monthlyMicros: bigint | null;
  /** How long they are kept, outputs and all, where that is shorter than the service keeps them. */
  retentionSeconds: number | null;
}

/** A rule for a label with one value or, where that is null, with any value that has no rule of its own, each by itself. */
export interface LabelRuleDraft extends LabelLimits {
  label: string;
  value: string | null;
}

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
