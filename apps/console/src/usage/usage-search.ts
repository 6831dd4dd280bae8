import { USAGE_GROUPS, type UsageGroup } from '../api/credits';

export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];
export const DEFAULT_RANGE: Range = 30;
export const DEFAULT_GROUP: UsageGroup = 'day';

/** What is shown, as it stands in the address; absent: the defaults. */
export interface UsageSearch {
  days?: Range;
  by?: UsageGroup;
}

/** Read the search of an address that anyone may have typed. */
export function readUsageSearch(search: Record<string, unknown>): UsageSearch {
  const days = RANGES.find((range) => range === Number(search['days']));
  const by = USAGE_GROUPS.find((group) => group === search['by']);
  return { ...(days === undefined ? {} : { days }), ...(by === undefined ? {} : { by }) };
}
