import { useState, type ReactNode } from 'react';
import { Button } from '../../../src/ui/controls/button';
import { turnDeployment, type Deployment } from '../api/deployments';
import { useMay } from '../api/use-may';
import { Confirm } from '../parts/confirm';

/** Stops a deployment, or starts a stopped one. One that is about to be deleted has no acts. */
export function TurnDeployment({ deployment }: { deployment: Deployment }): ReactNode {
  const { id, name, state, deleting_at } = deployment;
  const [asking, setAsking] = useState(false);
  const mayTurn = useMay('operator');
  if (deleting_at !== null || !mayTurn) return null;
  const starts = state === 'stopped';
  return (
    <>
      <Button onClick={() => setAsking(true)}>{starts ? 'Start' : 'Stop'}</Button>
      {asking && (
        <Confirm
          title={starts ? `Start “${name}”?` : `Stop “${name}”?`}
          label={starts ? 'Start the deployment' : 'Stop the deployment'}
          kind={starts ? 'primary' : 'danger'}
          done={starts ? `“${name}” starts` : `“${name}” is stopped`}
          act={() => turnDeployment(id, starts ? 'start' : 'stop')}
          onClose={() => setAsking(false)}
        >
          {starts
            ? 'Its jobs that wait are dispatched again as soon as a worker is ready.'
            : 'It takes no new jobs and starts none. Jobs that run end as usual; those that wait go on when it is started again.'}
        </Confirm>
      )}
    </>
  );
}
