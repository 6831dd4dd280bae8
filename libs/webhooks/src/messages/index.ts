export { claimMessages, type ClaimedMessage, type ClaimRoom } from './claim.store';
export { recordJobEndPart } from './outbox.store';
export { recordOutcome, type Outcome } from './outcome.store';
export { pauseSeconds } from './retry-schedule';
export { WebhookSweepStore } from './sweep.store';
export { SweepWebhooksLoop } from './sweep-webhooks.loop';
