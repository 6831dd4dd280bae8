import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createWebhookEndpoint, webhookEndpointsQuery, type WebhookEndpointDraft } from '../api/webhooks';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { EndpointFields, isComplete } from './endpoint-fields';
import { ALL_EVENTS } from './events';
import { SecretDialog } from './secret-dialog';

/** A new endpoint: its form, and then its secret, once. */
export function CreateEndpoint({ onClose }: { onClose: () => void }): ReactNode {
  const [draft, setDraft] = useState<WebhookEndpointDraft>({ url: '', events: [...ALL_EVENTS], description: '' });
  const formId = useId();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: createWebhookEndpoint,
    onSuccess: () => void client.invalidateQueries({ queryKey: webhookEndpointsQuery.queryKey }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ ...draft, url: draft.url.trim() });
  };
  return (
    <SecretDialog
      pending={create.isPending}
      title="New endpoint"
      issued={create.data}
      onClose={onClose}
      action={
        <Button kind="primary" type="submit" form={formId} busy={create.isPending} disabled={!isComplete(draft)}>
          Create the endpoint
        </Button>
      }
    >
      <form id={formId} className="fields" onSubmit={submit}>
        <EndpointFields draft={draft} onChange={(more) => setDraft({ ...draft, ...more })} />
        {create.isError && <ErrorNote error={create.error} title="The endpoint was not created" />}
      </form>
    </SecretDialog>
  );
}
