import { queryOptions } from '@tanstack/react-query';
import type { DeploymentState, ModelName } from '@millrace/contracts';
import { ApiError } from './api-error';
import { deleteRecord, send, sendForJson, surfaceOf } from './client';

const POLL_MS = 5_000;
/** While a state is about to change. */
const CHANGING_POLL_MS = 1_500;
export const DEPLOYMENTS = '/platform/v1/deployments';

export interface Deployment {
  id: string;
  name: string;
  state: DeploymentState;
  /** Why its workers, or its models, are not as wanted. */
  state_reason: string | null;
  path: string;
  host: string | null;
  demo: boolean;
  engine: string;
  engine_class: string;
  price_micros_per_second: number;
  queue_limit: number | null;
  attempt_limit_seconds: number | null;
  min_workers: number;
  max_workers: number;
  idle_seconds: number;
  /** What its workers have of the library before they are ready. */
  models: ModelName[];
  ready_workers: number;
  created_at: string;
  /** Set while it drains: it takes no more jobs, and goes when it has none. */
  deleting_at: string | null;
}

export interface DeploymentDraft {
  name: string;
  engine_class: string;
  min_workers: number;
  max_workers: number;
  idle_seconds: number;
  models: ModelName[];
}

/** What can be changed of one; absent fields stay. */
export type DeploymentChanges = Partial<DeploymentDraft>;

/** The account's deployments, newest first. */
export const deploymentsQuery = queryOptions({
  queryKey: ['deployments'],
  queryFn: async ({ signal }) =>
    (await sendForJson<{ deployments: Deployment[] }>(DEPLOYMENTS, { signal })).deployments,
  refetchInterval: ({ state }) => (state.data?.some(isChanging) ? CHANGING_POLL_MS : POLL_MS),
});

/** Milliseconds of the phases of a start. Null: not measured, or there was none. */
export interface StartPhases {
  schedule_ms: number | null;
  pull_ms: number | null;
  boot_ms: number | null;
  models_ms: number | null;
  warm_up_ms: number | null;
  total_ms: number;
}

export interface DeploymentStarts {
  /** The latest first. */
  starts: StartPhases[];
  /** The medians; null where there are no starts. */
  typical: StartPhases | null;
}

/** What the latest starts of a deployment's workers took. */
export const deploymentStartsQuery = (id: string) =>
  queryOptions({
    queryKey: ['deployments', id, 'starts'],
    queryFn: ({ signal }) =>
      sendForJson<DeploymentStarts>(`${DEPLOYMENTS}/${encodeURIComponent(id)}/starts`, { signal }),
  });

function isChanging({ state, deleting_at }: Deployment): boolean {
  return state === 'provisioning' || state === 'starting' || deleting_at !== null;
}

/** @throws ApiError */
export function createDeployment(draft: DeploymentDraft): Promise<Deployment> {
  return sendForJson<Deployment>(DEPLOYMENTS, { method: 'POST', body: draft });
}

/** @throws ApiError */
export function changeDeployment(id: string, changes: DeploymentChanges): Promise<Deployment> {
  return sendForJson<Deployment>(`${DEPLOYMENTS}/${encodeURIComponent(id)}`, { method: 'PATCH', body: changes });
}

/** @throws ApiError */
export function turnDeployment(id: string, verb: 'start' | 'stop'): Promise<Deployment> {
  return sendForJson<Deployment>(`${DEPLOYMENTS}/${encodeURIComponent(id)}/${verb}`, { method: 'POST' });
}

/**
 * @param drain delete it when the jobs that it has are over.
 * @throws ApiError `deployment_busy` while it has jobs and is not to drain.
 */
export async function deleteDeployment(id: string, drain: boolean): Promise<void> {
  await deleteRecord(`${DEPLOYMENTS}/${encodeURIComponent(id)}${drain ? '?drain=true' : ''}`);
}

/**
 * The deployment that a job of the account was submitted to; null when it is on none of them. The ledger and assets name jobs by
 * their id alone, and a job is found only on the surface that made it.
 */
export const jobDeploymentQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['job-deployment', jobId],
    queryFn: async ({ client, signal }) => {
      for (const { id } of await client.fetchQuery(deploymentsQuery)) {
        if (await hasJob(id, jobId, signal)) return id;
      }
      return null;
    },
    staleTime: Infinity,
  });

async function hasJob(deploymentId: string, jobId: string, signal: AbortSignal): Promise<boolean> {
  try {
    await send(`${surfaceOf(deploymentId)}/api/v2/jobs/${encodeURIComponent(jobId)}`, { signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
