import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Estimate } from '@millrace/contracts';
import { sendForJson, surfaceOf } from './client';

/** Queues move: an estimate is asked for again after this long. */
const STALE_MS = 15_000;

/** What submitting a graph would come to. The one before is shown until the next one is there. */
export const estimateQuery = (deployment: string | undefined, graphText: string) =>
  queryOptions({
    queryKey: ['estimate', deployment, graphText],
    queryFn: async ({ signal }) => ({
      graphText,
      estimate: await sendForJson<Estimate>(`${surfaceOf(deployment)}/platform/v1/estimates`, {
        method: 'POST',
        rawBody: `{"workflow":${graphText}}`,
        signal,
        onlyReads: true,
      }),
    }),
    placeholderData: keepPreviousData,
    staleTime: STALE_MS,
    refetchInterval: STALE_MS,
    retry: false,
  });
