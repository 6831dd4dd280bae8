export { DeliverWebhooksLoop } from './deliver-webhooks.loop';
export { Deliverer } from './deliverer';
export { Lanes } from './lanes';
export { type MessageReaders, type ReadBatches, type ReadJobs } from './message-body';
