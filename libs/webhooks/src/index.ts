export { composeWebhookDelivery, composeWebhookEndpoints } from './composition';
export { type ReadJobs } from './delivery';
export { DISABLED_REASONS, WebhookEndpoints, type IssuedEndpoint, type WebhookEndpoint } from './endpoints';
export { MESSAGE_STATES, WebhookMessages, recordJobEndPart, type LoggedMessage } from './messages';
export { webhookSettings } from './webhook.settings';
