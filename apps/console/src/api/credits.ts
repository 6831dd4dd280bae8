import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { queryOf, send, sendForJson } from './client';

const PAGE_SIZE = 25;
const POLL_MS = 15_000;
const DAY_MS = 86_400_000;

export const USAGE_GROUPS = ['day', 'key', 'deployment'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Amounts are millionths of a credit. */
export interface Balance {
  available_micros: number;
  held_micros: number;
}

export type LedgerKind = 'grant' | 'top_up' | 'hold' | 'extend_hold' | 'settle' | 'release' | 'expire' | 'correction';

/** A transaction: how it changed the two parts of the balance. */
export interface LedgerTransaction extends Balance {
  id: string;
  at: string;
  kind: LedgerKind;
  job_id: string | null;
  reason: string | null;
}

/** What jobs of a group used, by the time at which they ended. */
export interface Use {
  jobs: number;
  billable_ms: number;
  charged_micros: number;
}

export interface UsageReport {
  /** `group` is a day (`2026-11-23`, UTC) or an id; null for jobs without one. */
  usage: (Use & { group: string | null })[];
  total: Use;
  from: string;
  to: string;
  truncated: boolean;
}

export const balanceQuery = queryOptions({
  queryKey: ['credits'],
  queryFn: ({ signal }) => sendForJson<Balance>('/platform/v1/credits', { signal }),
  refetchInterval: POLL_MS,
});

/** Below how many millionths of a credit the webhook event `credits.low` is sent; 0: never. */
export const creditAlertQuery = queryOptions({
  queryKey: ['credit-alert'],
  queryFn: async ({ signal }) =>
    (await sendForJson<{ below_micros: number }>('/platform/v1/credits/alert', { signal })).below_micros,
});

/** @throws ApiError */
export async function setCreditAlert(belowMicros: number): Promise<number> {
  const body = { below_micros: belowMicros };
  return (await sendForJson<{ below_micros: number }>('/platform/v1/credits/alert', { method: 'PUT', body }))
    .below_micros;
}

/** Every transaction of the account, newest first, page by page. */
export const ledgerQuery = infiniteQueryOptions({
  queryKey: ['ledger'],
  queryFn: ({ pageParam, signal }) =>
    sendForJson<{ transactions: LedgerTransaction[]; next_cursor?: string }>(
      `/platform/v1/credits/ledger${queryOf({ limit: PAGE_SIZE, cursor: pageParam })}`,
      { signal },
    ),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor,
});

/** Usage of the last days, today among them. Days are UTC. */
export const usageQuery = (days: number, group: UsageGroup) =>
  queryOptions({
    queryKey: ['usage', days, group],
    queryFn: ({ signal }) => sendForJson<UsageReport>(usagePath(days, group), { signal }),
    refetchInterval: POLL_MS,
  });

/** @throws ApiError */
export async function usageCsv(days: number, group: UsageGroup): Promise<string> {
  return readCsv(usagePath(days, group));
}

/** The statement of a month, `2026-11`: opening balance, all movements, closing balance. @throws ApiError */
export async function statementCsv(month: string): Promise<string> {
  return readCsv(`/platform/v1/statements/${month}`);
}

function usagePath(days: number, group: UsageGroup): string {
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  return `/platform/v1/usage${queryOf({ from, group_by: group })}`;
}

async function readCsv(path: string): Promise<string> {
  return (await send(path, { headers: { Accept: 'text/csv' } })).text();
}
