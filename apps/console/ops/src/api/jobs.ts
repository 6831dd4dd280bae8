import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { JobStatus } from '@millrace/contracts';
import { queryOf } from '../../../src/api/client';
import { admin } from './admin';
import { PAGE_SIZE, POLL_MS } from './poll';

export interface JobError {
  code: string;
  message: string;
  node_id?: string | null;
}

/** A job that failed. */
export interface Failure {
  id: string;
  account_id: string;
  pool: string;
  attempts: number;
  error: JobError | null;
  created_at: string;
  completed_at: string | null;
}

export interface Attempt {
  number: number;
  worker_id: string;
  claimed_at: string;
  ended_at: string | null;
  outcome: string | null;
  engine_ms: number | null;
}

/** A change of a job's status, and what caused it. */
export interface Transition {
  seq: number;
  from: JobStatus | null;
  to: JobStatus;
  attempt: number;
  cause: string;
  worker_id: string | null;
  at: string;
}

/** A job of any account, across its attempts. */
export interface OperatedJob {
  id: string;
  account_id: string;
  surface: string;
  deployment_id: string | null;
  pool: string;
  status: JobStatus;
  delivery: string;
  priority: number;
  worker_id: string | null;
  max_attempts: number;
  attempts: Attempt[];
  transitions: Transition[];
  error: JobError | null;
  metadata: Record<string, unknown>;
  models: string[];
  engine_ms: number;
  held_micros: number;
  charged_micros: number | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  deadline_at: string;
  expires_at: string;
}

/** Jobs of all accounts that failed, the latest submitted first, page by page. */
export const failuresQuery = infiniteQueryOptions({
  queryKey: ['failures'],
  queryFn: ({ pageParam, signal }) =>
    admin<{ failures: Failure[]; next_cursor?: string }>(
      `/failures${queryOf({ limit: PAGE_SIZE, cursor: pageParam })}`,
      { signal },
    ),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor,
  refetchInterval: (query) => POLL_MS * Math.max(1, query.state.data?.pages.length ?? 1),
});

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id],
    queryFn: ({ signal }) => admin<OperatedJob>(`/jobs/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: POLL_MS,
  });

/** @throws ApiError */
export function cancelJob(id: string): Promise<{ status: JobStatus }> {
  return admin<{ status: JobStatus }>(`/jobs/${encodeURIComponent(id)}/cancel`, { method: 'POST' });
}

/**
 * Run an ended job's graph again.
 *
 * @param key under which sending it again makes no second job.
 * @returns the new job.
 * @throws ApiError
 */
export function redriveJob(id: string, key: string): Promise<{ id: string }> {
  const headers = { 'Idempotency-Key': key };
  return admin<{ id: string }>(`/jobs/${encodeURIComponent(id)}/redrive`, { method: 'POST', headers });
}
