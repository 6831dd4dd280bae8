export { ComfyuiSimulator } from './simulator';
export { type SimulatedServerOptions } from './simulated-server';
export type { SimulatedVersion } from './version';
export { spawnableSimulator } from './spawnable';
export { NodeRaised, type NodeClass } from './nodes/node-class';
