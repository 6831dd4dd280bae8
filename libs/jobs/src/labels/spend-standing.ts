import { ACCOUNT_LABEL } from './label-refusal';

/** How much of a cap is used, in percent: 0 (less than 50), 50, 80 or 100, the most that it came to in its day and month. */
export interface SpendStanding {
  /** `@account`, `@key` or the label that the cap is of. */
  label: string;
  value: string;
  day: number;
  month: number;
}

/** What a caller may know: how much its account spends is not for the holder of a sub-key. */
export function showsStanding(isSubKey: boolean): (standing: SpendStanding) => boolean {
  return ({ label }) => !isSubKey || label !== ACCOUNT_LABEL;
}
