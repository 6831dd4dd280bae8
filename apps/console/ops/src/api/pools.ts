import { queryOptions } from '@tanstack/react-query';
import { admin } from './admin';
import { POLL_MS } from './poll';

export interface Pool {
  id: string;
  engine: string;
  deployment_id: string | null;
  /** Kinds of nodes that its workers can run; null until one has said so. */
  node_count: number | null;
  queue_limit: number | null;
  attempt_limit_seconds: number | null;
  created_at: string;
}

export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: async ({ signal }) => (await admin<{ pools: Pool[] }>('/pools', { signal })).pools,
  refetchInterval: POLL_MS,
});
