import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { BatchJobPage, BatchPage, BatchView, JobStatus, RetriedStatus } from '@millrace/contracts';
import { queryOf, sendForJson, surfaceOf } from './client';

const PAGE_SIZE = 25;
const JOBS_PAGE_SIZE = 50;
/** A list is read again this long after the last time, for each page that is shown. */
const LIST_POLL_MS = 3_000;
const BATCH_POLL_MS = 2_000;

/** A batch's place: its id, and the deployment that it was submitted to, if any. */
export interface BatchPlace {
  id: string;
  deployment?: string | undefined;
}

const listPath = (deployment: string | undefined): string => `${surfaceOf(deployment)}/api/v2/batches`;
const pathOf = ({ id, deployment }: BatchPlace): string => `${listPath(deployment)}/${encodeURIComponent(id)}`;

/** Batches of a deployment, or of the account's own surface, newest first, page by page. */
export const batchListQuery = (deployment: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['batches', deployment ?? ''],
    queryFn: ({ pageParam, signal }) =>
      sendForJson<BatchPage>(`${listPath(deployment)}${queryOf({ limit: PAGE_SIZE, cursor: pageParam })}`, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => LIST_POLL_MS * Math.max(1, query.state.data?.pages.length ?? 1),
  });

/** One batch. Someone else may have jobs of it tried again, so it is read now and then when all have ended. */
export const batchQuery = (place: BatchPlace) =>
  queryOptions({
    queryKey: ['batch', place.deployment ?? '', place.id],
    queryFn: ({ signal }) => sendForJson<BatchView>(pathOf(place), { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'completed' ? 5 * BATCH_POLL_MS : BATCH_POLL_MS),
  });

/** Its jobs in their order, page by page. @param ended whether nothing of them changes any more. */
export const batchJobsQuery = (place: BatchPlace, status: JobStatus | undefined, ended: boolean) =>
  infiniteQueryOptions({
    queryKey: ['batch-jobs', place.id, place.deployment ?? '', status ?? ''],
    queryFn: ({ pageParam, signal }) =>
      sendForJson<BatchJobPage>(
        `${pathOf(place)}/jobs${queryOf({ limit: JOBS_PAGE_SIZE, cursor: pageParam, status })}`,
        {
          signal,
        },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) =>
      (ended ? 5 * LIST_POLL_MS : LIST_POLL_MS) * Math.max(1, query.state.data?.pages.length ?? 1),
  });

/** Cancel every job that has not ended. @throws ApiError */
export function cancelBatch(place: BatchPlace): Promise<BatchView> {
  return sendForJson<BatchView>(`${pathOf(place)}/cancel`, { method: 'POST' });
}

/** Try the jobs again that ended so. A repeat with the same key changes nothing. @throws ApiError */
export function retryBatch(
  place: BatchPlace,
  statuses: readonly RetriedStatus[],
  idempotencyKey: string,
): Promise<BatchView> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return sendForJson<BatchView>(`${pathOf(place)}/retry`, { method: 'POST', body: { statuses }, headers });
}
