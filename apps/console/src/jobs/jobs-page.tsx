import { useState, type ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { jobListQuery } from '../api/jobs';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import { Skeleton } from '../ui/display/skeleton';
import { CancelSelected } from './cancel-selected';
import { FilterBar } from './filter-bar';
import { FirstRequest } from './first-request';
import { JobTable } from './job-table';
import { filterOf } from './jobs-search';
import './jobs.css';

const route = getRouteApi('/jobs');

/** The account's jobs, newest first, with their live states. */
export function JobsPage(): ReactNode {
  const search = route.useSearch();
  const mayWrite = useSession().may('jobs:write');
  const list = useInfiniteQuery(jobListQuery(filterOf(search)));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const jobs = list.data?.pages.flatMap((page) => page.jobs) ?? [];
  const filtered = Object.keys(search).length > 0;
  return (
    <Page
      title="Jobs"
      actions={
        mayWrite && (
          <>
            <CancelSelected
              jobs={jobs.filter((job) => selected.has(job.id))}
              deployment={search.deployment}
              onDone={() => setSelected(new Set())}
            />
            <Link
              className="button primary"
              to="/new"
              search={search.deployment === undefined ? {} : { deployment: search.deployment }}
            >
              <Icon name="plus" />
              New job
            </Link>
          </>
        )
      }
    >
      <FilterBar search={search} />
      {list.isError && !list.isFetchNextPageError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={8} />}
      {list.isSuccess && jobs.length === 0 && (filtered ? <NoMatch /> : <FirstRequest mayWrite={mayWrite} />)}
      {jobs.length > 0 && (
        <JobTable
          jobs={jobs}
          deployment={search.deployment}
          selected={selected}
          onSelect={setSelected}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          failed={list.isFetchNextPageError}
          onMore={() => void list.fetchNextPage()}
        />
      )}
      {list.isFetchNextPageError && (
        <ErrorNote error={list.error} onRetry={() => list.fetchNextPage()} title="Older jobs could not be read" />
      )}
    </Page>
  );
}

function NoMatch(): ReactNode {
  return (
    <Empty icon="search" title="No job matches these filters">
      <p>Take one of them away, or look further back in time.</p>
    </Empty>
  );
}
