import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Asset, AssetPage } from '@millrace/contracts';
import { deleteRecord, queryOf, sendForJson } from './client';

const PAGE_SIZE = 60;
/** Uploads of others and outputs of running jobs appear by themselves; what this page does is shown at once. */
const LIST_POLL_MS = 60_000;
const ASSETS = '/api/v2/assets';

/** Which assets a list shows. */
export interface AssetFilter {
  kind: 'upload' | 'output';
  /** What the content type begins with. */
  contentType?: string | undefined;
  /** How far it goes back. */
  sinceMs?: number | undefined;
}

/** Assets of a filter, newest first, page by page. A page may be empty before the last. */
export const assetListQuery = (filter: AssetFilter) =>
  infiniteQueryOptions({
    queryKey: ['assets', filter],
    queryFn: ({ pageParam, signal }) => sendForJson<AssetPage>(`${ASSETS}${listQuery(filter, pageParam)}`, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: LIST_POLL_MS,
  });

function listQuery({ kind, contentType, sinceMs }: AssetFilter, cursor: string | undefined): string {
  const since = sinceMs === undefined ? undefined : new Date(Date.now() - sinceMs).toISOString();
  return queryOf({ limit: PAGE_SIZE, cursor, kind, content_type: contentType, created_after: since });
}

/** An asset, with a link that has just begun to work. */
export const assetQuery = (id: string) =>
  queryOptions({
    queryKey: ['asset', id],
    queryFn: ({ signal }) => sendForJson<Asset>(`${ASSETS}/${encodeURIComponent(id)}`, { signal }),
    staleTime: 60_000,
  });

/** @throws ApiError `asset_in_use` while a job refers to it. */
export async function deleteAsset(id: string): Promise<void> {
  await deleteRecord(`${ASSETS}/${encodeURIComponent(id)}`);
}
