import { queryOptions } from '@tanstack/react-query';
import type { DeploymentState } from '@millrace/contracts';
import { sendForJson } from './client';

const POLL_MS = 5_000;

export interface Deployment {
  id: string;
  name: string;
  state: DeploymentState;
  path: string;
  host: string | null;
  demo: boolean;
  engine: string;
  price_micros_per_second: number;
  queue_limit: number | null;
  attempt_limit_seconds: number | null;
  min_workers: number;
  max_workers: number;
  ready_workers: number;
  created_at: string;
}

/** The account's deployments, newest first. */
export const deploymentsQuery = queryOptions({
  queryKey: ['deployments'],
  queryFn: async ({ signal }) =>
    (await sendForJson<{ deployments: Deployment[] }>('/platform/v1/deployments', { signal })).deployments,
  refetchInterval: POLL_MS,
});
