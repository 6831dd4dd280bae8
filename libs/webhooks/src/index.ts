export { composeWebhookDelivery, composeWebhookEndpoints } from './composition';
export { type MessageReaders, type ReadBatches, type ReadJobs } from './delivery';
export {
  DISABLED_REASONS,
  WebhookEndpoints,
  type EndpointChanges,
  type EndpointDraft,
  type IssuedEndpoint,
  type Transact,
  type WebhookEndpoint,
} from './endpoints';
export { WebhookErasureStore } from './erasure';
export {
  MESSAGE_STATES,
  WebhookMessages,
  recordBatchEndPart,
  recordJobEndPart,
  type LoggedMessage,
  type ReplayedMessages,
} from './messages';
export { webhookSettings } from './webhook.settings';
