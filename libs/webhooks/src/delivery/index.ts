export { DeliverWebhooksLoop } from './deliver-webhooks.loop';
export { Deliverer } from './deliverer';
export { Lanes } from './lanes';
export { type ReadJobs } from './message-body';
