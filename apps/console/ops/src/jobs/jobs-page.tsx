import type { ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Page } from '../../../src/shell/page';
import { Empty } from '../../../src/ui/display/empty';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { failuresQuery } from '../api/jobs';
import { moreOf } from '../parts/pages-of';
import { Updated } from '../parts/updated';
import { FailureRows } from './failure-rows';
import { FindJob } from './find-job';

/** The way to any job, and the jobs that failed. */
export function JobsPage(): ReactNode {
  const list = useInfiniteQuery(failuresQuery);
  const failures = list.data?.pages.flatMap((page) => page.failures) ?? [];
  return (
    <Page title="Jobs" beside={<Updated of={[list]} />}>
      <FindJob />
      <h2>Failed jobs, the latest submitted first</h2>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={6} />}
      {list.isSuccess && failures.length === 0 && (
        <Empty icon="check" title="No job has failed">
          <p>Jobs that fail are listed here for as long as they are kept.</p>
        </Empty>
      )}
      {failures.length > 0 && <FailureRows failures={failures} more={moreOf(list)} />}
    </Page>
  );
}
