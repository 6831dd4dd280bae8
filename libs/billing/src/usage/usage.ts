import type { JobMetadata } from '@millrace/contracts';

/** What usage can be summed by; `label` by the value of one label of the caller's jobs. */
export type UsageGrouping = { by: 'day' | 'key' | 'deployment' | 'version' } | { by: 'label'; label: string };

/** Whose usage: of all jobs of an account, or of those with the labels of a sub-key. */
export interface UsageScope {
  accountId: string;
  labels: JobMetadata | null;
}

/** Use of one group within the span. */
export interface UsageRow {
  /** A day (`2026-11-21`, UTC), an id, or the value of a label; null where jobs had none. */
  group: string | null;
  /** Jobs that ended, in any state. */
  jobs: number;
  billableMs: bigint;
  chargedMicros: bigint;
}

/** A table of all groups, read a page at a time. */
export interface UsageTable {
  scope: UsageScope;
  /** Jobs that ended in [from, to). */
  span: { from: Date; to: Date };
  grouping: UsageGrouping;
  /** Jobs that ended before this were all there when the first page was read: `settled` of the pages is of these. */
  settledBefore: Date;
}

/** A row of such a table. */
export interface UsageTableRow extends UsageRow {
  /** A checksum of its settled jobs. Those of all rows sum to that of the span where each job is in one row. */
  settled: bigint;
}

export interface UsageReport {
  rows: UsageRow[];
  /** Of everything within the span, groups that are not listed included. */
  total: Omit<UsageRow, 'group'>;
  /** True when there are more groups than are listed. */
  truncated: boolean;
}

/** Groups in one answer, and in a page of a table that has all of them; by label there may be any number. */
export const USAGE_ROWS = 10_000;
