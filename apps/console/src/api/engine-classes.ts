import { queryOptions } from '@tanstack/react-query';
import { sendForJson } from './client';

const STALE_MS = 60_000;

export interface EngineClass {
  name: string;
  title: string;
  description: string;
  gpu: { kind: string; count: number } | null;
  memory: string | null;
  /** How long a worker may take until it is ready. */
  start_seconds: number;
  price_micros_per_second: number;
}

/** What deployments can run on, by name. */
export const engineClassesQuery = queryOptions({
  queryKey: ['engine-classes'],
  queryFn: async ({ signal }) =>
    (await sendForJson<{ engine_classes: EngineClass[] }>('/platform/v1/engine-classes', { signal })).engine_classes,
  staleTime: STALE_MS,
});
