import type { ReactNode } from 'react';
import type { WebhookEndpoint } from '../api/webhooks';
import { Sign } from '../ui/display/status';

/** Whether an endpoint gets its messages. */
export function EndpointSign({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const { enabled, disabled_reason: reason, failing_since: failing } = endpoint;
  if (!enabled) {
    return reason === 'by_owner' ? (
      <Sign tone="rest" icon="stop">
        Disabled
      </Sign>
    ) : (
      <Sign tone="bad" icon="warning">
        {reason === 'gone' ? 'Disabled: gone' : 'Disabled: failing'}
      </Sign>
    );
  }
  return failing === null ? (
    <Sign tone="good" icon="check">
      Enabled
    </Sign>
  ) : (
    <Sign tone="warn" icon="warning">
      Failing
    </Sign>
  );
}
