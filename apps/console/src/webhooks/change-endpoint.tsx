import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  changeWebhookEndpoint,
  webhookEndpointsQuery,
  type WebhookEndpoint,
  type WebhookEndpointDraft,
} from '../api/webhooks';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { EndpointFields, isComplete } from './endpoint-fields';

/** Another URL, other events or another description for an endpoint. What is not changed is not sent: another may have changed it meanwhile. */
export function ChangeEndpoint({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }): ReactNode {
  const [changes, setChanges] = useState<Partial<WebhookEndpointDraft>>({});
  const draft = { ...endpoint, ...changes };
  const isFit = isComplete(draft) && Object.keys(changes).length > 0;
  const formId = useId();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => {
      const { url } = changes;
      return changeWebhookEndpoint(endpoint.id, { ...changes, ...(url === undefined ? {} : { url: url.trim() }) });
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: webhookEndpointsQuery.queryKey }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Modal
      title="Change the endpoint"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} busy={change.isPending} disabled={!isFit}>
            Change the endpoint
          </Button>
        </>
      }
    >
      <form id={formId} className="fields" onSubmit={submit}>
        <EndpointFields draft={draft} onChange={(more) => setChanges({ ...changes, ...more })} />
        <p className="soft">Messages that wait go to the new URL. Other events count from the next one that happens.</p>
        {change.isError && <ErrorNote error={change.error} title="The endpoint was not changed" />}
      </form>
    </Modal>
  );
}
