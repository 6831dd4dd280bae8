import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { asApiError } from '../api/api-error';
import { deleteDeployment, deploymentsQuery, type Deployment } from '../api/deployments';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Modal } from '../ui/controls/modal';
import { notify } from '../ui/display/notices';

const CURE_OF_BUSY = 'Drain it: it takes no more jobs, and is deleted when those that it has are over.';

/** Deletes a deployment, after asking. One that has jobs is offered to drain. */
export function DeleteDeployment({ deployment, onClose }: { deployment: Deployment; onClose: () => void }): ReactNode {
  const { id, name } = deployment;
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (drain: boolean) => deleteDeployment(id, drain),
    onSuccess: (_nothing, drain) => {
      notify(drain ? `“${name}” drains` : `“${name}” is deleted`);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: deploymentsQuery.queryKey }),
  });
  const busy = remove.isError && asApiError(remove.error).code === 'deployment_busy';
  return (
    <Modal
      title={`Delete “${name}”?`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate(busy)}>
            {busy ? 'Drain, then delete' : 'Delete the deployment'}
          </Button>
        </>
      }
    >
      <p className="soft">
        Its address stops working, and its jobs with their outputs are no longer found. Bills keep what it cost.
      </p>
      {remove.isError && <ErrorNote error={remove.error} {...(busy ? { cure: CURE_OF_BUSY } : {})} />}
    </Modal>
  );
}
