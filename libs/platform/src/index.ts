export { type Auditor, type Finding } from './auditor';
export { BootError, runMain } from './boot';
export { CRASH_POINTS, crashPoint, type CrashPoint } from './crash-point';
export { BodiesInFlight, GatheredBytes, SharedBytes, assertFewPieces, dropRest, whenClosed } from './bodies';
export { BoundedBytes, BoundedMap } from './bounded-map';
export { backoffMs } from './backoff';
export { ItemSweep } from './sweeps/item-sweep';
export { workOnAll } from './sweeps/work-on-all';
export { KeyRing, type KeyUse, type UseKey } from './secrets/key-ring';
export { answerOf, envelopeOf } from './errors';
export { namesTag } from './entity-tag';
export { Pseudonyms } from './secrets/pseudonyms';
export { Sealer } from './secrets/sealer';
export { joinSignals, type JoinedSignal } from './joined-signal';
export { LoadingCache, type LoadingCacheOptions } from './loading-cache';
export { type Loop, type LoopReport } from './loop';
export { networkOfAddress, readAddress, subnetOfAddress } from './client-address';
export { createLogger, type Logger } from './logger';
export { NestLogger } from './nest-logger';
export { listen, openOpsListener } from './ops-listener';
export { processSettings } from './process.settings';
export { Metrics } from './metrics/metrics';
export {
  currentTraceparent,
  inChildSpan,
  inCurrentTrace,
  inSpan,
  openSpan,
  openTracing,
  recordSpan,
  underTrace,
  type SpanOptions,
} from './tracing/tracing';
export {
  AddressGuard,
  AddressRefused,
  CONNECT_MS,
  GuardedClient,
  isInNetworks,
  isWithinNetworks,
  networkList,
  readNetworks,
  type GuardedAnswer,
  type Network,
  type ResolveHost,
} from './outbound';
export { Connections, JSON_TYPE, endWithJson, sendText } from './listeners';
export { createSequentialServer, endWithinAnswer, SequentialMessage } from './pipelining';
export { Turns, type Rest } from './turns';
export { VERSION } from './version';
export { Shutdown } from './shutdown';
export {
  SettingsError,
  integer,
  readSettings,
  secretSetting,
  setting,
  sharedSetting,
  type Setting,
  type SettingsOf,
} from './settings';
