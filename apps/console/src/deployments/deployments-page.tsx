import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { deploymentsQuery } from '../api/deployments';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import { Skeleton } from '../ui/display/skeleton';
import { DeploymentCard } from './deployment-card';
import { NewDeployment } from './new-deployment';
import './deployments.css';

/** The account's deployments, newest first, with their live states. */
export function DeploymentsPage(): ReactNode {
  const [creating, setCreating] = useState(false);
  const mayWrite = useSession().may('deployments:write');
  const list = useQuery(deploymentsQuery);
  const deployments = list.data ?? [];
  const create = (
    <Button kind="primary" icon={<Icon name="plus" />} onClick={() => setCreating(true)}>
      New deployment
    </Button>
  );
  return (
    <Page title="Deployments" actions={mayWrite && deployments.length > 0 ? create : undefined}>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={6} />}
      {list.isSuccess && deployments.length === 0 && (
        <Empty icon="deployments" title="No deployments yet">
          <p>
            A deployment runs jobs on workers of its own, with a queue, limits and an address of its own. Jobs without
            one run on workers that all accounts share.
          </p>
          {mayWrite ? create : <p>This session may not create one: its key needs the scope deployments:write.</p>}
        </Empty>
      )}
      {deployments.length > 0 && (
        <ul className="deployments" aria-label="Deployments">
          {deployments.map((deployment) => (
            <li key={deployment.id}>
              <DeploymentCard deployment={deployment} mayWrite={mayWrite} />
            </li>
          ))}
        </ul>
      )}
      {creating && <NewDeployment onClose={() => setCreating(false)} />}
    </Page>
  );
}
