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

/** Another URL, other events or another description for an endpoint. */
export function ChangeEndpoint({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }): ReactNode {
  const { id, url, events, description } = endpoint;
  const [draft, setDraft] = useState<WebhookEndpointDraft>({ url, events, description });
  const formId = useId();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (changes: WebhookEndpointDraft) => changeWebhookEndpoint(id, changes),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: webhookEndpointsQuery.queryKey }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate({ ...draft, url: draft.url.trim() });
  };
  return (
    <Modal
      title="Change the endpoint"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} busy={change.isPending} disabled={!isComplete(draft)}>
            Change the endpoint
          </Button>
        </>
      }
    >
      <form id={formId} className="fields" onSubmit={submit}>
        <EndpointFields draft={draft} onDraft={setDraft} />
        <p className="soft">Messages that wait go to the new URL. Other events count from the next one that happens.</p>
        {change.isError && <ErrorNote error={change.error} title="The endpoint was not changed" />}
      </form>
    </Modal>
  );
}
