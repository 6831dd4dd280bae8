import { useEffect, type ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { JOB_STATUSES, type BatchJobView, type BatchView, type JobStatus } from '@millrace/contracts';
import { batchJobsQuery, type BatchPlace } from '../api/batches';
import { JobResult } from '../jobs/job-result';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { JobStatusSign } from '../ui/display/status';
import { capital, formatCredits, shortId } from '../ui/format';
import { searchOf } from './batch-search';

interface BatchJobsProps {
  batch: BatchView;
  place: BatchPlace;
  status: JobStatus | undefined;
}

/** The jobs of a batch in its order, all or those of one status, page by page. */
export function BatchJobs({ batch, place, status }: BatchJobsProps): ReactNode {
  const list = useInfiniteQuery(batchJobsQuery(place, status, batch.status === 'completed'));
  const { refetch } = list;
  // The last ends are shown at once, not when the list is read the next time.
  useEffect(() => {
    if (batch.completed_at !== null) void refetch();
  }, [batch.completed_at, refetch]);
  const jobs = list.data?.pages.flatMap((page) => page.jobs) ?? [];
  return (
    <section className="panel" aria-labelledby="batch-jobs">
      <div className="panel-head batch-jobs-head">
        <h2 id="batch-jobs">Jobs</h2>
        <StatusTabs batch={batch} place={place} status={status} />
      </div>
      {list.isPending && <Skeleton lines={6} />}
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isSuccess && jobs.length === 0 && <p className="panel-text soft">No job is in this state now.</p>}
      {jobs.length > 0 && (
        <ul aria-label="Jobs of the batch">
          {jobs.map((job) => (
            <JobLine key={job.batch_index} job={job} deployment={place.deployment} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <div className="panel-text">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

/** How many jobs are in each state; each leads to those. */
function StatusTabs({
  batch: { counts, job_count: all },
  place: { id, deployment },
  status,
}: BatchJobsProps): ReactNode {
  const shown = JOB_STATUSES.filter((name) => counts[name] > 0 || name === status);
  const tabs: [JobStatus | undefined, string, number][] = [
    [undefined, 'All', all],
    ...shown.map((name): [JobStatus, string, number] => [name, capital(name), counts[name]]),
  ];
  return (
    <nav className="batch-tabs" aria-label="Jobs by status">
      {tabs.map(([name, label, count]) => (
        <Link
          key={label}
          to="/batches/$batchId"
          params={{ batchId: id }}
          search={{ ...searchOf(deployment), ...(name === undefined ? {} : { status: name }) }}
          replace
          activeOptions={{ exact: true }}
          className="batch-tab"
        >
          {label} <span className="number">{count}</span>
        </Link>
      ))}
    </nav>
  );
}

function JobLine({ job, deployment }: { job: BatchJobView; deployment: string | undefined }): ReactNode {
  const charged = job.metrics['charged_micros'];
  return (
    <li className="batch-job">
      <span className="number faint batch-index" title="Place in the batch">
        {job.batch_index}
      </span>
      <JobStatusSign status={job.status} />
      <Link
        to="/jobs/$jobId"
        params={{ jobId: job.id }}
        search={searchOf(deployment)}
        className="mono small"
        title={job.id}
      >
        {shortId(job.id)}
      </Link>
      <span className="job-result">
        <JobResult job={job} />
      </span>
      <span className="number soft batch-job-cost">{typeof charged === 'number' ? formatCredits(charged) : '–'}</span>
    </li>
  );
}
