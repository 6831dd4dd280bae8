import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../../../src/shell/page';
import { Empty } from '../../../src/ui/display/empty';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { Ago } from '../../../src/ui/display/time';
import { shortId } from '../../../src/ui/format';
import { holderOf, poolsQuery, type Pool } from '../api/pools';
import { workersQuery, type Worker } from '../api/workers';
import { JobLink, PoolName } from '../parts/links';
import { Rows, type Column } from '../parts/rows';
import { Updated } from '../parts/updated';
import { DrainWorker } from './drain-worker';
import { WorkerSign } from './worker-sign';

const route = getRouteApi('/workers');

const COLUMNS: readonly Column<Worker>[] = [
  { name: 'State', cell: (worker) => <WorkerSign worker={worker} /> },
  {
    name: 'Worker',
    cell: ({ id, host, pid, problem }) => (
      <div className="stack">
        <span title={id}>
          {host} <span className="faint number">· {pid}</span>
        </span>
        {problem !== null && <span className="small reason">{problem}</span>}
      </div>
    ),
  },
  { name: 'Pool', cell: ({ pool }) => <PoolName id={pool} /> },
  {
    name: 'Runs',
    cell: ({ running_jobs: jobs, capacity }) => (
      <div className="stack">
        {jobs.map((id) => (
          <JobLink key={id} id={id} />
        ))}
        <span className="small faint number">
          {jobs.length} of {capacity}
        </span>
      </div>
    ),
  },
  {
    name: 'Holds',
    cell: ({ resident_models: models }) =>
      models.length === 0 ? (
        <span className="faint">No models</span>
      ) : (
        <span className="small">{models.join(', ')}</span>
      ),
  },
  { name: 'Version', cell: ({ version, engine }) => <span title={engine}>{version}</span> },
  { name: 'Heartbeat', cell: ({ last_seen_at }) => <Ago at={last_seen_at} /> },
  { name: 'Acts', cell: (worker) => <DrainWorker worker={worker} /> },
];

/** All workers: what each runs and holds, and whether it drains. */
export function WorkersPage(): ReactNode {
  const search = route.useSearch();
  const workers = useQuery(workersQuery(search));
  const pools = useQuery(poolsQuery);
  const list = workers.data ?? [];
  return (
    <Page title="Workers" beside={<Updated of={[workers]} />}>
      <Filters pools={pools.data ?? []} />
      {workers.isError && <ErrorNote error={workers.error} onRetry={() => workers.refetch()} />}
      {workers.isPending && <Skeleton lines={6} />}
      {workers.isSuccess && list.length === 0 && (
        <Empty icon="again" title="No live worker">
          <p>
            Jobs wait until one comes. Start a worker process with the pool&apos;s name as MILLRACE_POOL, or see with
            the deployment why its fleet starts none.
          </p>
        </Empty>
      )}
      {list.length > 0 && <Rows label="Workers" kind="workers" rows={list} keyOf={({ id }) => id} columns={COLUMNS} />}
    </Page>
  );
}

function Filters({ pools }: { pools: Pool[] }): ReactNode {
  const { pool, stopped } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="tools">
      <select
        className="input"
        aria-label="Pool"
        value={pool ?? ''}
        onChange={({ target }) =>
          void navigate({ search: { ...(target.value && { pool: target.value }), ...(stopped && { stopped }) } })
        }
      >
        <option value="">All pools</option>
        {pools.map((known) => (
          <option key={known.id} value={known.id}>
            {nameOf(known)}
          </option>
        ))}
      </select>
      <label className="check">
        <input
          type="checkbox"
          checked={stopped === true}
          onChange={({ target }) =>
            void navigate({ search: { ...(pool !== undefined && { pool }), ...(target.checked && { stopped: true }) } })
          }
        />
        Also stopped and lost ones
      </label>
    </div>
  );
}

/** Of a deployment its name first, then the id: each version has a pool of its own. */
function nameOf(pool: Pool): string {
  const holder = holderOf(pool);
  return holder === null ? pool.id : `${holder} (${shortId(pool.id)})`;
}
