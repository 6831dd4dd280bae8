export { type FaultKind } from './fault-kinds';
export { FaultProxy, type ProxyMode } from './fault-proxy';
export { Member, type MemberSpec } from './member';
export { DeploymentWorkers } from './deployment-workers';
export { ModelWorkers, type ModelCache } from './model-workers';
export { Injector } from './injector';
export { type Victims } from './victims';
