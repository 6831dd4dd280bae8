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
