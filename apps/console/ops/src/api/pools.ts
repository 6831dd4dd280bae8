import { queryOptions } from '@tanstack/react-query';
import { admin } from './admin';
import { POLL_MS } from './poll';

export interface Pool {
  id: string;
  engine: string;
  deployment_id: string | null;
  /** The deployment's name and account; null of a pool that all accounts share. */
  deployment_name: string | null;
  account_id: string | null;
  account_name: string | null;
  /** Kinds of nodes that its workers can run; null until one has said so. */
  node_count: number | null;
  queue_limit: number | null;
  attempt_limit_seconds: number | null;
  created_at: string;
}

/** Whose pool it is; null where all accounts share it, and where the API is of a version that does not say. */
export function holderOf({ deployment_name: name = null, account_name: account = null }: Partial<Pool>): string | null {
  return name === null || account === null ? null : `${name} · ${account}`;
}

export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: async ({ signal }) => (await admin<{ pools: Pool[] }>('/pools', { signal })).pools,
  refetchInterval: POLL_MS,
});
