export { RedisConnections } from './redis';
export { LaneConsumer, LaneProducer, type HintState } from './lanes';
export { LivePublisher, LiveSubscriber, type ReceivedEvent } from './live-events';
export { listenForControl, sendControl } from './control';
export { EphemeralSecrets, forgetSecret } from './ephemeral-secrets';
export { SharedCounters } from './shared-counters';
export { RENEW_SLOTS_EVERY_MS, SharedSlots } from './shared-slots';
export { GoneWorkers, announceWorker } from './worker-presence';
export { messagingSettings, secretKeySetting } from './messaging.settings';
