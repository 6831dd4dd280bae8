export { ApiClient, type CallOptions, type JsonAnswer, type Writes } from './api.client';
export { assertAssetId } from './assets.client';
export { JsonText } from './json-of';
export { type Clients, clientsFor } from './clients';
export { JobsClient, type NodeTime, type SubmitOptions } from './jobs.client';
export { type ModelRecord } from './models.client';
export { sizeOf, unreadable } from './local-file';
export { goingOn, Outage, untilAnswered } from './outage';
export {
  type AssetRecord,
  type Job,
  type JobAttempt,
  type JobItem,
  type JobOutput,
  type WaitingReason,
  JobView,
  OutputView,
  readAs,
  recordOf,
  recordsOf,
} from './wire';
