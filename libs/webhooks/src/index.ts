export { composeWebhookDelivery, composeWebhookEndpoints } from './composition';
export { type ReadJobs } from './delivery';
export { DISABLED_REASONS, WebhookEndpoints, type IssuedEndpoint, type WebhookEndpoint } from './endpoints';
export { recordJobEndPart } from './messages';
export { webhookSettings } from './webhook.settings';
