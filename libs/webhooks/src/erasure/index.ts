export { WebhookErasureStore } from './webhook-erasure.store';
