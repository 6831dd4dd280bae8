import { queryOptions } from '@tanstack/react-query';
import type { NodeClasses } from '@millrace/contracts';
import { sendForJson, surfaceOf } from './client';

const STALE_MS = 300_000;

/** The node classes that graphs can be made of on a surface. */
export const nodeClassesQuery = (deployment: string | undefined) =>
  queryOptions({
    queryKey: ['node-classes', deployment ?? ''],
    queryFn: async ({ signal }) =>
      (await sendForJson<NodeClasses>(`${surfaceOf(deployment)}/api/v2/node-classes`, { signal })).node_classes,
    staleTime: STALE_MS,
  });
