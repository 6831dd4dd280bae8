export { EndpointSecrets, secretBytes } from './endpoint-secrets';
export { EndpointStore } from './endpoint.store';
export { ResealWebhookSecretsLoop } from './reseal-webhook-secrets.loop';
export { liveSecrets } from './secret.store';
export { WebhookEndpoints, type IssuedEndpoint } from './endpoints.service';
export {
  DISABLED_REASONS,
  type DisabledReason,
  type EndpointChanges,
  type EndpointDraft,
  type Transact,
  type WebhookEndpoint,
} from './webhook-endpoint';
