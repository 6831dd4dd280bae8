import { infiniteQueryOptions } from '@tanstack/react-query';
import type { DeploymentState } from '@millrace/contracts';
import { queryOf } from '../../../src/api/client';
import { admin } from './admin';
import { PAGE_SIZE, POLL_MS } from './poll';

export interface Deployment {
  id: string;
  account_id: string;
  name: string;
  pool: string;
  state: DeploymentState;
  /** Why its workers are not as wanted. */
  state_reason: string | null;
  demo: boolean;
  engine_class: string;
  min_workers: number;
  max_workers: number;
  ready_workers: number;
  created_at: string;
  deleting_at: string | null;
}

/** Deployments of all accounts, newest first, page by page. */
export const deploymentsQuery = infiniteQueryOptions({
  queryKey: ['deployments'],
  queryFn: ({ pageParam, signal }) =>
    admin<{ deployments: Deployment[]; next_cursor?: string }>(
      `/deployments${queryOf({ limit: PAGE_SIZE, cursor: pageParam })}`,
      { signal },
    ),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor,
  refetchInterval: (query) => POLL_MS * Math.max(1, query.state.data?.pages.length ?? 1),
});

/** @throws ApiError */
export function turnDeployment(id: string, verb: 'start' | 'stop'): Promise<Deployment> {
  return admin<Deployment>(`/deployments/${encodeURIComponent(id)}/${verb}`, { method: 'POST' });
}
