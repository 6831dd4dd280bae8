import { queryOptions } from '@tanstack/react-query';
import type { NodeClasses } from '@millrace/contracts';
import { sendForJson, surfaceOf } from './client';

/** Long enough for a form that is filled in: models may be uploaded meanwhile. An answer that has not changed costs no bytes. */
const STALE_MS = 30_000;

/** The node classes that graphs can be made of on a surface. */
export const nodeClassesQuery = (deployment: string | undefined) =>
  queryOptions({
    queryKey: ['node-classes', deployment ?? ''],
    queryFn: async ({ signal }) =>
      (await sendForJson<NodeClasses>(`${surfaceOf(deployment)}/api/v2/node-classes`, { signal })).node_classes,
    staleTime: STALE_MS,
  });
