import type { ReactNode } from 'react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Page } from '../../../src/shell/page';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Fact, Facts } from '../../../src/ui/display/facts';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { failuresQuery } from '../api/jobs';
import { queuesQuery, type Queue } from '../api/overview';
import { workersQuery, type Worker } from '../api/workers';
import { FailureRows } from '../jobs/failure-rows';
import { Updated } from '../parts/updated';
import { waited } from '../parts/waited';
import { shownState } from '../workers/worker-sign';
import { AuditPanel } from './audit-panel';
import { QueueTable } from './queue-table';
import './overview.css';

const FAILURES_SHOWN = 8;

/** The service at a glance: its work, its workers, what failed, and whether its books agree. */
export function OverviewPage(): ReactNode {
  const queues = useQuery(queuesQuery);
  const workers = useQuery(workersQuery());
  const failures = useInfiniteQuery(failuresQuery);
  const failed = failures.data?.pages[0]?.failures ?? [];
  const fault = [queues, workers, failures].find(({ isError }) => isError);
  return (
    <Page title="Overview" beside={<Updated of={[queues, workers, failures]} />}>
      {fault !== undefined && <ErrorNote error={fault.error} onRetry={() => fault.refetch()} />}
      {(queues.isLoading || workers.isLoading) && <Skeleton lines={4} />}
      {queues.data !== undefined && workers.data !== undefined && (
        <>
          <section className="panel panel-body" aria-label="Now">
            <Now queues={queues.data} workers={workers.data} />
          </section>
          <QueueTable queues={queues.data} />
        </>
      )}
      <AuditPanel />
      <section className="stack section" aria-labelledby="failures">
        <div className="section-head">
          <h2 id="failures">Recent failures</h2>
          {failed.length > FAILURES_SHOWN && <Link to="/jobs">All of them</Link>}
        </div>
        {failures.isSuccess && failed.length === 0 && <p className="panel panel-note soft">No job has failed.</p>}
        {failed.length > 0 && <FailureRows failures={failed.slice(0, FAILURES_SHOWN)} />}
      </section>
    </Page>
  );
}

function Now({ queues, workers }: { queues: Queue[]; workers: Worker[] }): ReactNode {
  const of = (state: ReturnType<typeof shownState>): number =>
    workers.filter((worker) => shownState(worker) === state).length;
  const sum = (pick: (queue: Queue) => number): number => queues.reduce((total, queue) => total + pick(queue), 0);
  const oldest = Math.max(0, ...queues.map(({ oldest_seconds }) => oldest_seconds));
  return (
    <Facts>
      <Fact name="Jobs waiting" lead>
        {sum(({ waiting }) => waiting).toLocaleString()}
      </Fact>
      <Fact name="Oldest waits">{waited(oldest)}</Fact>
      <Fact name="Jobs with workers">{sum(({ dispatched, running }) => dispatched + running).toLocaleString()}</Fact>
      <Fact name="Workers ready">{of('ready')}</Fact>
      <Fact name="Workers busy">{of('busy')}</Fact>
      <Fact name="Workers draining">{of('draining')}</Fact>
      <Fact name="Starting">{of('starting')}</Fact>
      <Fact name="Lost">{of('lost')}</Fact>
    </Facts>
  );
}
