import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { deleteWebhookEndpoint, webhookEndpointsQuery } from '../api/webhooks';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

/** Deletes an endpoint, after asking. */
export function DeleteEndpoint({ endpointId, onClose }: { endpointId: string; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteWebhookEndpoint(endpointId),
    onSuccess: async () => {
      notify('The endpoint is deleted');
      await navigate({ to: '/webhooks' });
      await client.invalidateQueries({ queryKey: webhookEndpointsQuery.queryKey, exact: true });
    },
  });
  return (
    <Modal
      title="Delete the endpoint?"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete the endpoint
          </Button>
        </>
      }
    >
      <p className="soft">Nothing is sent to it any more. Messages that wait are dropped, and the log is deleted.</p>
      {remove.isError && <ErrorNote error={remove.error} title="The endpoint was not deleted" />}
    </Modal>
  );
}
