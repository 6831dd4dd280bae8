import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { AccountLimitField, AccountStatus } from '@millrace/contracts';
import { queryOf } from '../../../src/api/client';
import { admin } from './admin';
import { PAGE_SIZE, POLL_MS } from './poll';

/** An account; a limit that is null is the service's default. */
export interface Account extends Record<AccountLimitField, number | null> {
  id: string;
  name: string;
  kind: string;
  status: AccountStatus;
  plan: string;
  weight: number;
  created_at: string;
  updated_at: string;
}

export type AccountChanges = Partial<Pick<Account, 'status' | 'weight' | AccountLimitField>>;

/** Millionths of a credit. */
export interface Balance {
  available_micros: number;
  held_micros: number;
}

const pathOf = (id: string): string => `/accounts/${encodeURIComponent(id)}`;

/** Accounts whose name contains a text, newest first, page by page. */
export const accountsQuery = (name: string) =>
  infiniteQueryOptions({
    queryKey: ['accounts', name],
    queryFn: ({ pageParam, signal }) =>
      admin<{ accounts: Account[]; next_cursor?: string }>(
        `/accounts${queryOf({ name, limit: PAGE_SIZE, cursor: pageParam })}`,
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => POLL_MS * Math.max(1, query.state.data?.pages.length ?? 1),
  });

export const accountQuery = (id: string) =>
  queryOptions({
    queryKey: ['account', id],
    queryFn: ({ signal }) => admin<Account>(pathOf(id), { signal }),
    refetchInterval: POLL_MS,
  });

export const balanceQuery = (id: string) =>
  queryOptions({
    queryKey: ['balance', id],
    queryFn: ({ signal }) => admin<Balance>(`${pathOf(id)}/credits`, { signal }),
    refetchInterval: POLL_MS,
  });

/** @throws ApiError */
export function changeAccount(id: string, changes: AccountChanges): Promise<Account> {
  return admin<Account>(pathOf(id), { method: 'PATCH', body: changes });
}

/**
 * Grant credits, or take some back that are neither spent nor held.
 *
 * @param key under which sending it again changes nothing.
 * @throws ApiError
 */
export function adjustCredits(
  id: string,
  adjustment: { amount_micros: number; reason: string },
  key: string,
): Promise<Balance> {
  const headers = { 'Idempotency-Key': key };
  return admin<Balance>(`${pathOf(id)}/credits`, { method: 'POST', body: adjustment, headers });
}
