export { ComfyuiSimulator } from './simulator';
export { SimulatedServer, type SimulatedServerOptions } from './simulated-server';
export { spawnableSimulator } from './spawnable';
export {
  Blocker,
  NodeRaised,
  SystemExit,
  type NodeCall,
  type NodeClass,
  type NodeResult,
  type Pictures,
} from './nodes/node-class';
export type { Hold, RunPoint } from './execution/hold-points';
export type { HttpFault } from './io/http-faults';
