export { AttachedServerHost } from './attached.server-host';
export { DiskTrouble } from './disk-trouble';
export type { LiveServer } from './live-server';
export { OwnedServerHost } from './owned.server-host';
export { RestartRequest } from './restart-request';
export { ServerKeeper } from './server-keeper';
export { gpuProblem, ServerTrouble } from './server-trouble';
