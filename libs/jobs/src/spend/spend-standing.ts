import { ACCOUNT_LABEL } from '../labels';

/** How much of a cap is used, in percent: 0 (less than 50), 50, 80 or 100, the most that it came to in its day and month. */
export interface SpendStanding {
  /** `@account`, `@key` or the label that the cap is of. */
  label: string;
  day: number;
  month: number;
}

/** What a caller may know: how much its account spends is not for the holder of a sub-key. */
export function showsStanding(isSubKey: boolean): (standing: SpendStanding) => boolean {
  return ({ label }) => !isSubKey || label !== ACCOUNT_LABEL;
}

/**
 * What is to be said of many jobs at once: for each label the most that any value of it came to, so that it is short however many
 * values they have.
 *
 * @param standings of the jobs, in any order.
 */
export function mostUsed(standings: readonly SpendStanding[]): SpendStanding[] {
  const most = new Map<string, SpendStanding>();
  for (const { label, day, month } of standings) {
    const before = most.get(label) ?? { day: 0, month: 0 };
    most.set(label, { label, day: Math.max(before.day, day), month: Math.max(before.month, month) });
  }
  return [...most.values()];
}
