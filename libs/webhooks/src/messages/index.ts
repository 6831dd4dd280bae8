export { claimMessages, handBackMessages, type ClaimedMessage, type ClaimRoom, type Lane } from './claim.store';
export { WebhookMessages } from './message-log.service';
export { MESSAGE_STATES, MessageLogStore, type LoggedMessage, type ReplayedMessages } from './message-log.store';
export { recordBatchEndPart, recordJobEndPart } from './outbox.store';
export { recordOutcome, type DisabledEndpoint, type Outcome } from './outcome.store';
export { MeasureWebhooksLoop } from './measure-webhooks.loop';
export { pauseSeconds } from './retry-schedule';
export { WebhookSweepStore } from './sweep.store';
export { SweepWebhooksLoop } from './sweep-webhooks.loop';
