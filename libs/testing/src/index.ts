export {
  ApiDescription,
  assertDescribed,
  assertEventDescribed,
  describedFetch,
  type SeenAnswer,
} from './api-description';
export { ApiClient, type Answer, type Call } from './api-client';
export {
  ComfyuiSimulator,
  NodeRaised,
  spawnableSimulator,
  type NodeClass,
  type SimulatedServerOptions,
  type SimulatedVersion,
} from './comfyui-simulator';
export { eventually } from './eventually';
export { collectGarbage, followersOf } from './followers';
export { HOSTILE_ADDRESSES, HOSTILE_SHAPES, HOSTILE_URLS } from './hostile-addresses';
export { KubernetesStandIn, STAND_IN_NAMESPACE, STAND_IN_TOKEN, type StandInOptions } from './kubernetes-stand-in';
export { makeAccount, makePool, testBilling } from './factories';
export { uploadModel, weightsOf } from './library-model';
export { McpClient, type ToolSeen } from './mcp-client';
export { onOneDay } from './one-day';
export { readingRows, readingsOf, type Reading } from './plans';
export { SmtpSink } from './smtp-sink';
export { ScriptedPayments } from './scripted-payments';
export { createTestDatabase, type TestDatabase } from './test-database';
export { TestProcess, type ProcessRole } from './test-process';
export { createTestFolder, type TestFolder } from './test-folder';
export { testRedisUrl } from './test-redis';
export { testS3, type TestS3 } from './test-s3';
export { TestStack, type TestAccount, type TestStackOptions } from './test-stack';
export { undoNext } from './undo-next';
export { FaultProxy, Member, type MemberSpec, type ModelCache, type ProxyMode } from './faults/injection';
export { Random } from './faults/random';
export { runFaults, type FaultReport, type FaultRun } from './faults/run-faults';
export { type FaultyStack } from './faults/fault-world';
