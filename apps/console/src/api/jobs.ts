import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Job, JobAttempts, JobNodes, JobPage, JobStanding, JobStatus } from '@millrace/contracts';
import { queryOf, send, sendForJson, surfaceOf } from './client';

const PAGE_SIZE = 50;
/** A list is read again this long after the last time, for each page that is shown. */
const LIST_POLL_MS = 3_000;

const HOUR_MS = 3_600_000;

/** Times that a list can go back to, in hours. */
export const SINCE_HOURS = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const;
export type Since = keyof typeof SINCE_HOURS;

/** Which jobs a list shows. */
export interface JobFilter {
  status?: JobStatus | undefined;
  /** `key=value`, at most three. */
  labels?: string[] | undefined;
  deployment?: string | undefined;
  since?: Since | undefined;
}

/** A job's place: its id, and the deployment that it was submitted to, if any. */
export interface JobPlace {
  id: string;
  deployment?: string | undefined;
}

const jobPath = ({ id, deployment }: JobPlace): string =>
  `${surfaceOf(deployment)}/api/v2/jobs/${encodeURIComponent(id)}`;

/** Jobs of a filter, newest first, page by page. */
export const jobListQuery = (filter: JobFilter) =>
  infiniteQueryOptions({
    queryKey: ['jobs', filter],
    queryFn: ({ pageParam, signal }) =>
      sendForJson<JobPage>(`${surfaceOf(filter.deployment)}/api/v2/jobs${listQuery(filter, pageParam)}`, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => LIST_POLL_MS * Math.max(1, query.state.data?.pages.length ?? 1),
  });

function listQuery({ status, labels = [], since }: JobFilter, cursor: string | undefined): string {
  const parameters: Record<string, string | number | undefined> = {
    limit: PAGE_SIZE,
    cursor,
    status,
    created_after: since && new Date(Date.now() - SINCE_HOURS[since] * HOUR_MS).toISOString(),
  };
  for (const label of labels) {
    const [key = '', ...value] = label.split('=');
    parameters[`metadata[${key}]`] = value.join('=');
  }
  return queryOf(parameters);
}

/** A job, as the poll shows it: the truth behind the stream. */
export const jobQuery = (place: JobPlace) =>
  queryOptions({
    queryKey: ['job', place.deployment ?? '', place.id],
    queryFn: ({ signal }) => sendForJson<Job>(jobPath(place), { signal }),
  });

/** A job's graph: the answer's own text, in which no number went through a double. */
export const jobWorkflowQuery = (place: JobPlace) =>
  queryOptions({
    queryKey: ['job-workflow', place.deployment ?? '', place.id],
    queryFn: async ({ signal }) => (await send(`${jobPath(place)}/workflow`, { signal })).text(),
    staleTime: Infinity,
  });

/** How long each node of the last ended attempt took. */
export const jobNodesQuery = (place: JobPlace, ended: boolean) =>
  queryOptions({
    queryKey: ['job-nodes', place.deployment ?? '', place.id, ended],
    queryFn: ({ signal }) => sendForJson<JobNodes>(`${jobPath(place)}/nodes`, { signal }),
    staleTime: ended ? Infinity : 0,
  });

/** Read again this often while the job may get another attempt. */
const ATTEMPTS_POLL_MS = 5_000;

/** Every attempt of a job. */
export const jobAttemptsQuery = (place: JobPlace, ended: boolean) =>
  queryOptions({
    queryKey: ['job-attempts', place.deployment ?? '', place.id, ended],
    queryFn: ({ signal }) => sendForJson<JobAttempts>(`${jobPath(place)}/attempts`, { signal }),
    staleTime: ended ? Infinity : 0,
    refetchInterval: ended ? false : ATTEMPTS_POLL_MS,
  });

/** Read again this often while the job may wait. */
const STANDING_POLL_MS = 5_000;

/** Why a job waits. */
export const jobStandingQuery = (place: JobPlace) =>
  queryOptions({
    queryKey: ['job-standing', place.deployment ?? '', place.id],
    queryFn: ({ signal }) => {
      const path = `${surfaceOf(place.deployment)}/platform/v1/jobs/${encodeURIComponent(place.id)}`;
      return sendForJson<JobStanding>(path, { signal });
    },
    refetchInterval: STANDING_POLL_MS,
  });

/** @throws ApiError */
export function cancelJob(place: JobPlace): Promise<Job> {
  return sendForJson<Job>(`${jobPath(place)}/cancel`, { method: 'POST' });
}

/** Submit a body whose graph is text. @throws ApiError */
export function submitJob(deployment: string | undefined, body: string, idempotencyKey: string): Promise<Job> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return sendForJson<Job>(`${surfaceOf(deployment)}/api/v2/jobs`, { method: 'POST', rawBody: body, headers });
}
