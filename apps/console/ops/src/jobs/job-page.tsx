import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Page } from '../../../src/shell/page';
import { CopyButton } from '../../../src/ui/controls/copy-button';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Fact, Facts } from '../../../src/ui/display/facts';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { JobStatusSign } from '../../../src/ui/display/status';
import { Ago } from '../../../src/ui/display/time';
import { formatCredits, formatDuration, shortId } from '../../../src/ui/format';
import { jobQuery, type OperatedJob } from '../api/jobs';
import { AccountLink, PoolName } from '../parts/links';
import { Updated } from '../parts/updated';
import { JobActions } from './job-actions';
import { Attempts, Transitions } from './job-history';

const route = getRouteApi('/jobs/$jobId');

/** One job of any account: where it is, across its attempts. */
export function JobPage(): ReactNode {
  const { jobId } = route.useParams();
  const query = useQuery(jobQuery(jobId));
  const job = query.data;
  return (
    <Page
      title={`Job ${shortId(jobId)}`}
      above={<Link to="/jobs">Jobs</Link>}
      beside={
        <>
          {job !== undefined && <JobStatusSign status={job.status} />}
          <CopyButton text={jobId} label="Copy the id" />
          <Updated of={[query]} />
        </>
      }
      actions={job && <JobActions job={job} />}
    >
      {query.isError && <ErrorNote error={query.error} onRetry={() => query.refetch()} />}
      {query.isPending && <Skeleton lines={8} />}
      {job !== undefined && (
        <>
          {job.error !== null && <Failed error={job.error} />}
          <section className="panel panel-body" aria-label="Facts">
            <JobFacts job={job} />
          </section>
          <Attempts job={job} />
          <Transitions job={job} />
        </>
      )}
    </Page>
  );
}

function Failed({ error: { code, message, node_id: node } }: { error: NonNullable<OperatedJob['error']> }): ReactNode {
  return (
    <section className="panel panel-body" aria-label="Error">
      <p>
        <code>{code}</code>
        {node !== null && node !== undefined && <span className="soft"> on node {node}</span>}
      </p>
      <p className="reason">{message}</p>
    </section>
  );
}

function JobFacts({ job }: { job: OperatedJob }): ReactNode {
  const labels = Object.entries(job.metadata);
  return (
    <Facts>
      <Fact name="Account">
        <AccountLink id={job.account_id} />
      </Fact>
      <Fact name="Pool">
        <PoolName id={job.pool} />
      </Fact>
      <Fact name="Surface">{job.surface}</Fact>
      <Fact name="Delivery">{job.delivery}</Fact>
      <Fact name="Submitted">
        <Ago at={job.created_at} />
      </Fact>
      {job.started_at !== null && (
        <Fact name="Started">
          <Ago at={job.started_at} />
        </Fact>
      )}
      {job.completed_at === null ? (
        <Fact name="Deadline">
          <Ago at={job.deadline_at} />
        </Fact>
      ) : (
        <Fact name="Ended">
          <Ago at={job.completed_at} />
        </Fact>
      )}
      <Fact name="Engine time">{formatDuration(job.engine_ms)}</Fact>
      <Fact name={job.charged_micros === null ? 'Credits held' : 'Credits charged'}>
        {formatCredits(job.charged_micros ?? job.held_micros)}
      </Fact>
      {job.models.length > 0 && <Fact name="Models">{job.models.join(', ')}</Fact>}
      {labels.length > 0 && (
        <Fact name="Labels">{labels.map(([key, value]) => `${key}=${String(value)}`).join(', ')}</Fact>
      )}
    </Facts>
  );
}
