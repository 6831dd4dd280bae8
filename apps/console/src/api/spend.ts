import { queryOptions } from '@tanstack/react-query';
import { deleteRecord, sendForJson } from './client';

const POLL_MS = 5_000;
const PATH = '/platform/v1/spend';

export type AtCap = 'stop' | 'finish';

/** What the jobs of the account, of a key or of a label may cost, and what is used of it. Null: no cap of this kind. */
export interface SpendCap {
  id: string;
  scope: 'account' | 'key' | 'label';
  key_id: string | null;
  label: string | null;
  value: string | null;
  daily_micros: number | null;
  monthly_micros: number | null;
  daily_at_cap: AtCap | null;
  monthly_at_cap: AtCap | null;
  held_micros: number;
  day_micros: number;
  month_micros: number;
  stopped: 'day' | 'month' | null;
}

export const spendCapsQuery = queryOptions({
  queryKey: ['spend-caps'],
  queryFn: async ({ signal }) => (await sendForJson<{ spend_caps: SpendCap[] }>(PATH, { signal })).spend_caps,
  refetchInterval: POLL_MS,
});

/** Set the cap of the account, or change it. @throws ApiError */
export function putAccountCap(cap: {
  daily_micros: number | null;
  monthly_micros: number | null;
  daily_at_cap: AtCap;
  monthly_at_cap: AtCap;
}): Promise<SpendCap> {
  return sendForJson<SpendCap>(`${PATH}/caps`, { method: 'PUT', body: { scope: 'account', ...cap } });
}

/** @throws ApiError */
export async function deleteSpendCap(id: string): Promise<void> {
  await deleteRecord(`${PATH}/caps/${encodeURIComponent(id)}`);
}
