import type { Scope } from './access';
import { TERMINAL_STATUSES } from './job';

/**
 * What an account can have sent to it: the end of a job, named by the status that it ended with (contract, section 3), the end of
 * a batch, and what its holder has to act on before the service refuses something.
 */
export const WEBHOOK_EVENTS = [
  ...TERMINAL_STATUSES.map((status) => `job.${status}` as const),
  'batch.completed',
  'credits.low',
  'spend.warning',
  'spend.anomaly',
  'key.expiring',
  'deployment.ready',
  'deployment.failed',
  'deployment.stopped',
  'exports.disabled',
  'model.deleted',
  'webhook.disabled',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** With which scope what an event has is read elsewhere: who has it sent to a server reads it there. */
export const WEBHOOK_EVENT_SCOPES: Readonly<Record<WebhookEvent, Scope>> = {
  'job.succeeded': 'jobs:read',
  'job.failed': 'jobs:read',
  'job.canceled': 'jobs:read',
  'job.expired': 'jobs:read',
  'batch.completed': 'jobs:read',
  'credits.low': 'usage:read',
  'spend.warning': 'usage:read',
  'spend.anomaly': 'usage:read',
  'key.expiring': 'keys:admin',
  'deployment.ready': 'jobs:read',
  'deployment.failed': 'jobs:read',
  'deployment.stopped': 'jobs:read',
  'exports.disabled': 'usage:read',
  'model.deleted': 'assets:read',
  'webhook.disabled': 'webhooks:read',
};
