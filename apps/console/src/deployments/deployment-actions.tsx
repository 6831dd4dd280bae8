import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { deploymentsQuery, turnDeployment, type Deployment } from '../api/deployments';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { notifyError } from '../ui/display/notices';
import { ChangeDeployment } from './change-deployment';
import { DeleteDeployment } from './delete-deployment';

/** What can be done with a deployment. One that drains only shows its jobs. */
export function DeploymentActions({ deployment, mayWrite }: { deployment: Deployment; mayWrite: boolean }): ReactNode {
  const { id, name, state, deleting_at } = deployment;
  const [dialog, setDialog] = useState<'change' | 'delete' | null>(null);
  const close = (): void => setDialog(null);
  const client = useQueryClient();
  const verb = state === 'stopped' ? 'start' : 'stop';
  const turn = useMutation({
    mutationFn: (asked: 'start' | 'stop') => turnDeployment(id, asked),
    onSuccess: (turned) =>
      client.setQueryData(deploymentsQuery.queryKey, (list) =>
        list?.map((known) => (known.id === turned.id ? turned : known)),
      ),
    onError: (error, asked) => notifyError(`“${name}” did not ${asked}`, error),
    onSettled: () => client.invalidateQueries({ queryKey: deploymentsQuery.queryKey }),
  });
  const maySubmit = useSession().may('jobs:write');
  const draining = deleting_at !== null;
  return (
    <div className="deployment-actions">
      {maySubmit && !draining && state === 'ready' && (
        <Link className="button" to="/new" search={{ deployment: id }}>
          <Icon name="plus" />
          New job here
        </Link>
      )}
      <Link className="button" to="/jobs" search={{ deployment: id }}>
        <Icon name="jobs" />
        Jobs<span className="unseen"> of {name}</span>
      </Link>
      {mayWrite && !draining && (
        <>
          <Button onClick={() => setDialog('change')}>Change</Button>
          <Button
            icon={<Icon name={verb === 'start' ? 'right' : 'stop'} />}
            busy={turn.isPending}
            onClick={() => turn.mutate(verb)}
          >
            {verb === 'start' ? 'Start' : 'Stop'}
          </Button>
          <Button kind="danger" icon={<Icon name="bin" />} onClick={() => setDialog('delete')}>
            Delete
          </Button>
        </>
      )}
      {dialog === 'change' && <ChangeDeployment deployment={deployment} onClose={close} />}
      {dialog === 'delete' && <DeleteDeployment deployment={deployment} onClose={close} />}
    </div>
  );
}
