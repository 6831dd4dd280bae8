import { queryOptions } from '@tanstack/react-query';
import type { DeploymentState } from '@millrace/contracts';
import { sendForJson } from './client';
import { DEPLOYMENTS, type DeploymentChanges } from './deployments';

const POLL_MS = 3_000;

/** A version of a deployment. Of one that has ended only little is known. */
export interface DeploymentVersion {
  version: number;
  live: boolean;
  /** Jobs that run on it, in percent of all. */
  weight: number;
  state: DeploymentState | null;
  state_reason: string | null;
  ready_workers: number;
  engine_class: string;
  ended_at: string | null;
  /** How its jobs came out, among the latest of the deployment. */
  latest_jobs: LatestJobs;
}

export interface LatestJobs {
  ended: number;
  succeeded: number;
  failed: number;
  median_engine_ms: number | null;
  median_charged_micros: number | null;
}

/** What a new version has otherwise than the present one, and its share of the jobs. */
export type VersionDraft = Omit<DeploymentChanges, 'name'> & { weight: number };

/** One act on a deployment. */
export interface DeploymentChange {
  id: string;
  at: string;
  /** `operator`, `member:<id>`, or `api_key:<id>`. */
  actor: string;
  action: string;
  details: Record<string, unknown>;
}

interface Versions {
  versions: DeploymentVersion[];
}

const pathOf = (id: string): string => `${DEPLOYMENTS}/${encodeURIComponent(id)}`;

/** The versions of a deployment, the newest first. */
export const deploymentVersionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['deployments', id, 'versions'],
    queryFn: async ({ signal }) => (await sendForJson<Versions>(`${pathOf(id)}/versions`, { signal })).versions,
    refetchInterval: POLL_MS,
  });

/** What was done to a deployment, the latest first: one page of it. */
export const deploymentChangesQuery = (id: string) =>
  queryOptions({
    queryKey: ['deployments', id, 'changes'],
    queryFn: ({ signal }) =>
      sendForJson<{ changes: DeploymentChange[]; next_cursor?: string }>(`${pathOf(id)}/changes?limit=20`, { signal }),
  });

/** @throws ApiError `deployment_busy` where two are live already, `deployment_limit`. */
export async function addVersion(id: string, draft: VersionDraft): Promise<DeploymentVersion[]> {
  return (await sendForJson<Versions>(`${pathOf(id)}/versions`, { method: 'POST', body: draft })).versions;
}

/** Give a version its share, in percent; the other one takes the rest. @throws ApiError */
export async function weighVersion(id: string, version: number, weight: number): Promise<DeploymentVersion[]> {
  return (await sendForJson<Versions>(`${pathOf(id)}/versions/${version}`, { method: 'PATCH', body: { weight } }))
    .versions;
}

/** Give all jobs to the older version. @throws ApiError */
export async function rollBack(id: string): Promise<DeploymentVersion[]> {
  return (await sendForJson<Versions>(`${pathOf(id)}/rollback`, { method: 'POST' })).versions;
}

/** End a version; the other one takes all jobs. @throws ApiError */
export async function endVersion(id: string, version: number): Promise<DeploymentVersion[]> {
  return (await sendForJson<Versions>(`${pathOf(id)}/versions/${version}`, { method: 'DELETE' })).versions;
}
