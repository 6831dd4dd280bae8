export { RedisConnections } from './redis';
export { LaneConsumer, LaneProducer, type HintState } from './lanes';
export { LivePublisher, LiveSubscriber, type HeardEvent, type LiveSnapshot } from './live-events';
export { listenForControl, sendControl } from './control';
export { EphemeralSecrets, forgetSecret } from './ephemeral-secrets';
export { SharedCounters } from './shared-counters';
export { messagingSettings, secretKeySetting, type MessagingSettings } from './messaging.settings';
