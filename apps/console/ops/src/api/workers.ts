import { queryOptions } from '@tanstack/react-query';
import { queryOf } from '../../../src/api/client';
import { admin } from './admin';
import { POLL_MS } from './poll';

export type WorkerState = 'starting' | 'ready' | 'draining' | 'stopped' | 'lost';

export interface Worker {
  id: string;
  pool: string;
  engine: string;
  version: string;
  host: string;
  pid: number;
  state: WorkerState;
  /** Attempts that it runs at once. */
  capacity: number;
  running_jobs: string[];
  resident_models: string[];
  problem: string | null;
  started_at: string;
  last_seen_at: string;
  stopped_at: string | null;
}

export interface WorkerFilter {
  pool?: string | undefined;
  /** Also those that have stopped or are lost. */
  stopped?: boolean | undefined;
}

export const workersQuery = ({ pool, stopped }: WorkerFilter = {}) =>
  queryOptions({
    queryKey: ['workers', pool ?? null, stopped ?? false],
    queryFn: async ({ signal }) => {
      const query = queryOf({ pool, stopped: stopped === true ? 'true' : undefined });
      return (await admin<{ workers: Worker[] }>(`/workers${query}`, { signal })).workers;
    },
    refetchInterval: POLL_MS,
  });

/** @throws ApiError */
export function drainWorker(id: string, verb: 'drain' | 'undrain'): Promise<Worker> {
  return admin<Worker>(`/workers/${encodeURIComponent(id)}/${verb}`, { method: 'POST' });
}
