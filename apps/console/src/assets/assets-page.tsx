import { useCallback, type ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { assetListQuery } from '../api/assets';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { UploadButton } from '../ui/uploads/upload-button';
import { UploadList } from '../ui/uploads/upload-list';
import { AssetDetails } from './asset-details';
import { AssetFilters } from './asset-filters';
import { AssetGallery } from './asset-gallery';
import { filterOf } from './assets-search';
import { DropArea } from './drop-area';
import { NoAssets } from './no-assets';
import { useUploads } from './use-uploads';
import './assets.css';

const route = getRouteApi('/assets');

/** What the account stored: its uploads, or what its jobs made. */
export function AssetsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(assetListQuery(filterOf(search)));
  const mayUpload = useSession().may('assets:write');
  const { uploads, add, clear } = useUploads();
  const { asset: looked, ...filters } = search;
  const assets = list.data?.pages.flatMap((page) => page.assets) ?? [];
  // A page that found nothing is followed by hand: what matches may be far back.
  const foundLast = (list.data?.pages.at(-1)?.assets.length ?? 0) > 0;
  const { fetchNextPage } = list;
  const onMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  const upload = mayUpload && (
    <UploadButton kind="primary" multiple label="Files to upload" onFiles={add}>
      Upload
    </UploadButton>
  );
  return (
    <DropArea onFiles={mayUpload ? add : undefined}>
      <Page title="Assets" actions={upload}>
        <AssetFilters search={filters} />
        <UploadList uploads={uploads} onClear={clear} />
        {list.isError && !list.isFetchNextPageError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
        {list.isPending && <Skeleton lines={8} />}
        {list.isSuccess && assets.length === 0 && <NothingShown filters={filters} />}
        {assets.length > 0 && (
          <AssetGallery
            assets={assets}
            more={list.hasNextPage && foundLast && !list.isFetchingNextPage && !list.isFetchNextPageError}
            onMore={onMore}
            onOpen={({ id }) => void navigate({ search: { ...filters, asset: id } })}
          />
        )}
        {list.isFetchNextPageError && (
          <ErrorNote error={list.error} onRetry={() => fetchNextPage()} title="Older files could not be read" />
        )}
        {list.hasNextPage && !foundLast && (
          <Button busy={list.isFetchingNextPage} onClick={onMore}>
            Look further back
          </Button>
        )}
        {looked !== undefined && (
          <AssetDetails key={looked} id={looked} onClose={() => void navigate({ search: filters })} />
        )}
      </Page>
    </DropArea>
  );
}

function NothingShown({ filters }: { filters: object }): ReactNode {
  if (Object.keys(filters).length === 0) return <NoAssets />;
  return (
    <Empty icon="search" title="Nothing matches these filters">
      <p>Take one of them away, or look further back in time.</p>
    </Empty>
  );
}
