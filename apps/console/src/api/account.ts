import { queryOptions } from '@tanstack/react-query';
import type { ACCOUNT_LIMITS, AccountStatus } from '@millrace/contracts';
import { sendForJson } from './client';

const POLL_MS = 5_000;

/** Limits as the account sees them. Null: any number. */
export type LimitName = (typeof ACCOUNT_LIMITS)[number]['shownAs'] | 'polls_per_minute';
export type UseName = 'running_jobs' | 'queued_jobs' | 'uploaded_bytes_today' | 'storage_bytes' | 'event_streams';

/** An account, as its own keys see it. */
export interface Account {
  id: string;
  name: string;
  plan: string;
  status: AccountStatus;
  created_at: string;
  limits: Record<LimitName, number | null>;
  use: Record<UseName, number>;
}

/** The account, its limits, and how much of them it uses now. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => sendForJson<Account>('/platform/v1/account', { signal }),
  refetchInterval: POLL_MS,
});
