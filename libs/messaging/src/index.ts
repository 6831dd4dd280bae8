export { RedisConnections } from './redis';
export { LaneConsumer, LaneProducer } from './lanes';
export { LivePublisher, LiveSubscriber, type ReceivedEvent } from './live-events';
export { listenForControl, sendControl } from './control';
export { EphemeralSecrets, forgetSecret } from './ephemeral-secrets';
export { SharedCounters } from './shared-counters';
export { messagingSettings, secretKeySetting } from './messaging.settings';
