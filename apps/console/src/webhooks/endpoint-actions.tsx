import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  changeWebhookEndpoint,
  testWebhookEndpoint,
  webhookEndpointQuery,
  webhookEndpointsQuery,
  type WebhookEndpoint,
} from '../api/webhooks';
import { Button } from '../ui/controls/button';
import { notify, notifyError } from '../ui/display/notices';
import { ChangeEndpoint } from './change-endpoint';
import { DeleteEndpoint } from './delete-endpoint';
import { RotateSecret } from './rotate-secret';

type Dialog = 'change' | 'rotate' | 'delete';

/** What can be done with an endpoint. */
export function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const { id, enabled } = endpoint;
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = (): void => setDialog(null);
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: () => testWebhookEndpoint(id),
    onSuccess: () => notify('A test is sent'),
    onError: (error) => notifyError('No test was sent', error),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhook-messages', id] }),
  });
  const turn = useMutation({
    mutationFn: (wanted: boolean) => changeWebhookEndpoint(id, { enabled: wanted }),
    onSuccess: (changed) => client.setQueryData(webhookEndpointQuery(id).queryKey, changed),
    onError: (error, wanted) => notifyError(`The endpoint was not ${wanted ? 'enabled' : 'disabled'}`, error),
    onSettled: () => client.invalidateQueries({ queryKey: webhookEndpointsQuery.queryKey }),
  });
  return (
    <>
      {enabled && (
        <Button busy={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
      )}
      <Button busy={turn.isPending} kind={enabled ? 'plain' : 'primary'} onClick={() => turn.mutate(!enabled)}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <Button onClick={() => setDialog('change')}>Change</Button>
      <Button onClick={() => setDialog('rotate')}>Rotate the secret</Button>
      <Button kind="danger" onClick={() => setDialog('delete')}>
        Delete
      </Button>
      {dialog === 'change' && <ChangeEndpoint endpoint={endpoint} onClose={close} />}
      {dialog === 'rotate' && <RotateSecret endpointId={id} onClose={close} />}
      {dialog === 'delete' && <DeleteEndpoint endpointId={id} onClose={close} />}
    </>
  );
}
