import { useState, type ReactNode } from 'react';
import { Button } from '../../../src/ui/controls/button';
import { turnDeployment, type Deployment } from '../api/deployments';
import { useMay } from '../api/use-may';
import { Confirm } from '../parts/confirm';

/**
 * Stops a deployment, or starts a stopped one. One that is about to be deleted has no acts. The dialog asks for what it was opened for,
 * also when the deployment has changed since.
 */
export function TurnDeployment({ deployment }: { deployment: Deployment }): ReactNode {
  const { id, name, state, deleting_at } = deployment;
  const [asked, setAsked] = useState<'start' | 'stop' | null>(null);
  const mayTurn = useMay('operator');
  if (deleting_at !== null || !mayTurn) return null;
  const offered = state === 'stopped' ? 'start' : 'stop';
  const starts = asked === 'start';
  return (
    <>
      <Button onClick={() => setAsked(offered)}>{offered === 'start' ? 'Start' : 'Stop'}</Button>
      {asked !== null && (
        <Confirm
          title={starts ? `Start “${name}”?` : `Stop “${name}”?`}
          label={starts ? 'Start the deployment' : 'Stop the deployment'}
          kind={starts ? 'primary' : 'danger'}
          done={starts ? `“${name}” starts` : `“${name}” is stopped`}
          act={() => turnDeployment(id, asked)}
          onClose={() => setAsked(null)}
        >
          {starts
            ? 'Its jobs that wait are dispatched again as soon as a worker is ready.'
            : 'It takes no new jobs and starts none. Jobs that run end as usual; those that wait go on when it is started again.'}
        </Confirm>
      )}
    </>
  );
}
