import type { ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { BatchView } from '@millrace/contracts';
import { batchListQuery } from '../api/batches';
import { DeploymentFilter } from '../jobs/deployment-filter';
import { Page } from '../shell/page';
import { Button } from '../ui/controls/button';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { Ago } from '../ui/display/time';
import { formatCredits, shortId } from '../ui/format';
import { BatchProgress, BatchSign, countsText } from './batch-progress';
import { searchOf } from './batch-search';
import '../ui/controls/filter-bar.css';
import './batches.css';

const route = getRouteApi('/batches');

/** Batches of a deployment, or of the account's own surface, newest first, with their progress. */
export function BatchesPage(): ReactNode {
  const { deployment } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(batchListQuery(deployment));
  const batches = list.data?.pages.flatMap((page) => page.batches) ?? [];
  return (
    <Page title="Batches">
      <div className="filter-bar" role="search" aria-label="Filter batches">
        <DeploymentFilter value={deployment} onChange={(chosen) => void navigate({ search: searchOf(chosen) })} />
      </div>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={6} />}
      {list.isSuccess && batches.length === 0 && (
        <Empty icon="batches" title="No batches yet">
          <p>
            A batch is many jobs under one id: one graph with a table of values, or graphs of any kind. It is submitted
            by the API or the command line:{' '}
            <Link to="/docs/$" params={{ _splat: 'batches' }}>
              how batches work
            </Link>
            .
          </p>
        </Empty>
      )}
      {batches.length > 0 && <BatchTable batches={batches} deployment={deployment} />}
      {list.hasNextPage && (
        <div>
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Earlier ones
          </Button>
        </div>
      )}
    </Page>
  );
}

interface BatchTableProps {
  batches: BatchView[];
  deployment: string | undefined;
}

function BatchTable({ batches, deployment }: BatchTableProps): ReactNode {
  return (
    <div className="panel" role="table" aria-label="Batches">
      <div className="record batch-row head" role="row">
        {['Status', 'Batch', 'Progress', 'Jobs', 'Credits', 'Submitted'].map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
      {batches.map((batch) => (
        <div key={batch.id} className="record batch-row" role="row">
          <span role="cell" className="batch-status">
            <BatchSign batch={batch} />
          </span>
          <span role="cell" className="batch-name">
            <Link
              to="/batches/$batchId"
              params={{ batchId: batch.id }}
              search={searchOf(deployment)}
              className="mono"
              title={batch.id}
            >
              {shortId(batch.id)}
            </Link>
          </span>
          <span role="cell" className="batch-bar">
            <BatchProgress batch={batch} />
          </span>
          <span role="cell" className="batch-counts small soft">
            {countsText(batch)}
          </span>
          <span role="cell" className="batch-cost number soft">
            {batch.charged_micros === undefined ? '–' : formatCredits(batch.charged_micros)}
          </span>
          <span role="cell" className="batch-age soft">
            <Ago at={batch.created_at} />
          </span>
        </div>
      ))}
    </div>
  );
}
