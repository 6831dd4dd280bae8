import type { ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Page } from '../../../src/shell/page';
import { Empty } from '../../../src/ui/display/empty';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Skeleton } from '../../../src/ui/display/skeleton';
import { DeploymentStateSign } from '../../../src/ui/display/status';
import { deploymentsQuery, type Deployment } from '../api/deployments';
import { AccountLink, PoolLink } from '../parts/links';
import { moreOf } from '../parts/pages-of';
import { Rows, type Column } from '../parts/rows';
import { Updated } from '../parts/updated';
import { TurnDeployment } from './turn-deployment';

const COLUMNS: readonly Column<Deployment>[] = [
  {
    name: 'Deployment',
    cell: ({ name, pool, demo }) => (
      <div className="stack">
        <span>{name}</span>
        <span className="small">
          <PoolLink id={pool} />
          {demo && <span className="faint"> · demo</span>}
        </span>
      </div>
    ),
  },
  {
    name: 'State',
    cell: ({ state, state_reason: reason, deleting_at }) => (
      <div className="stack">
        <span>
          <DeploymentStateSign state={deleting_at === null ? state : 'draining'} />
        </span>
        {reason !== null && <span className="small soft">{reason}</span>}
      </div>
    ),
  },
  { name: 'Account', cell: ({ account_id }) => <AccountLink id={account_id} /> },
  { name: 'Class', cell: ({ engine_class }) => <span className="mono">{engine_class}</span> },
  {
    name: 'Ready',
    right: true,
    cell: ({ ready_workers: ready, min_workers: least, max_workers: most }) =>
      `${ready} of ${least === most ? most : `${least}–${most}`}`,
  },
  { name: 'Acts', cell: (deployment) => <TurnDeployment deployment={deployment} /> },
];

/** Deployments of all accounts, newest first, with their states and why. */
export function DeploymentsPage(): ReactNode {
  const list = useInfiniteQuery(deploymentsQuery);
  const deployments = list.data?.pages.flatMap((page) => page.deployments) ?? [];
  return (
    <Page title="Deployments" beside={<Updated of={[list]} />}>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={6} />}
      {list.isSuccess && deployments.length === 0 && (
        <Empty icon="deployments" title="No deployments">
          <p>Accounts create them, or an operator: millrace admin create-deployment ACCOUNT NAME.</p>
        </Empty>
      )}
      {deployments.length > 0 && (
        <Rows
          label="Deployments"
          kind="deployments"
          rows={deployments}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          more={moreOf(list)}
        />
      )}
    </Page>
  );
}
