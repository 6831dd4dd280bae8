import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Page } from '../../../src/shell/page';
import { Empty } from '../../../src/ui/display/empty';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { Sign } from '../../../src/ui/display/status';
import { formatDuration } from '../../../src/ui/format';
import { queuesQuery, type Queue } from '../api/overview';
import { poolsQuery, type Pool } from '../api/pools';
import { workersQuery, type Worker } from '../api/workers';
import { PoolName } from '../parts/links';
import { Rows, type Column } from '../parts/rows';
import { Updated } from '../parts/updated';
import { waited } from '../parts/waited';

/** A pool with its queue and its live workers. */
interface PoolRow extends Pool {
  queue: Queue | undefined;
  workers: Worker[];
}

const count = (value: number | null | undefined): string => (value ?? 0).toLocaleString();

const COLUMNS: readonly Column<PoolRow>[] = [
  {
    name: 'Pool',
    cell: ({ id, deployment_id: deployment, queue }) => (
      <div className="stack">
        <PoolName id={id} />
        {deployment === null && <span className="small faint">Shared</span>}
        {queue?.stopped === true && (
          <span className="small">
            <Sign tone="rest">Stopped</Sign>
          </span>
        )}
      </div>
    ),
  },
  { name: 'Engine', cell: ({ engine }) => engine },
  { name: 'Waiting', right: true, cell: ({ queue }) => count(queue?.waiting) },
  { name: 'Running', right: true, cell: ({ queue }) => count((queue?.running ?? 0) + (queue?.dispatched ?? 0)) },
  { name: 'Oldest', right: true, cell: ({ queue }) => waited(queue?.oldest_seconds ?? 0) },
  {
    name: 'Ready',
    right: true,
    cell: ({ workers }) => `${workers.filter(({ state }) => state === 'ready').length} of ${workers.length}`,
  },
  { name: 'Nodes', right: true, cell: ({ node_count: nodes }) => (nodes === null ? '–' : count(nodes)) },
  {
    name: 'Attempt limit',
    right: true,
    cell: ({ attempt_limit_seconds: limit }) => (limit === null ? 'Default' : formatDuration(limit * 1_000)),
  },
];

/** All pools, the longest queue first. */
export function PoolsPage(): ReactNode {
  const pools = useQuery(poolsQuery);
  const queues = useQuery(queuesQuery);
  const workers = useQuery(workersQuery());
  const rows = rowsOf(pools.data ?? [], queues.data ?? [], workers.data ?? []);
  return (
    <Page title="Pools" beside={<Updated of={[pools, queues, workers]} />}>
      {pools.isError && <ErrorNote error={pools.error} onRetry={() => pools.refetch()} />}
      {pools.isPending && <Skeleton lines={6} />}
      {pools.isSuccess && rows.length === 0 && (
        <Empty icon="usage" title="No pools yet">
          <p>A pool comes with its first worker, or with a deployment.</p>
        </Empty>
      )}
      {rows.length > 0 && <Rows label="Pools" kind="pools" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />}
    </Page>
  );
}

function rowsOf(pools: Pool[], queues: Queue[], workers: Worker[]): PoolRow[] {
  const queueOf = new Map(queues.map((queue) => [queue.pool, queue]));
  const workersOf = Map.groupBy(workers, ({ pool }) => pool);
  return pools
    .map((pool) => ({ ...pool, queue: queueOf.get(pool.id), workers: workersOf.get(pool.id) ?? [] }))
    .sort((a, b) => (b.queue?.waiting ?? 0) - (a.queue?.waiting ?? 0) || a.id.localeCompare(b.id));
}
