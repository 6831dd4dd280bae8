import type { WebhookEvent } from '../api/webhooks';

/** What each event means. The types refuse a list that differs from the contract's. */
export const EVENT_TEXTS: Record<WebhookEvent, string> = {
  'job.succeeded': 'A job has its outputs',
  'job.failed': 'A job ended with an error',
  'job.canceled': 'A job was canceled',
  'job.expired': 'A job did not start in time',
  'batch.completed': 'All jobs of a batch have ended',
  'exports.disabled': 'Daily exports are no longer written, because their bucket fails',
  'credits.low': 'The credits fell below the limit of the account',
  'spend.warning': 'Half, 80 percent or all of a spend cap is used',
  'spend.anomaly': 'An hour cost ten times as much as usual',
  'key.expiring': 'An API key expires in a week, or in a day',
  'deployment.ready': 'A deployment has a worker and takes jobs',
  'deployment.failed': 'The workers of a deployment do not start',
  'deployment.stopped': 'A deployment takes no more jobs',
  'model.deleted': 'A model was deleted because no job used it for long',
  'webhook.disabled': 'Another endpoint was disabled, because it failed for days or is gone',
};

export const ALL_EVENTS = Object.keys(EVENT_TEXTS) as WebhookEvent[];
