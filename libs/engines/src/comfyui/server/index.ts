export { AttachedServerHost } from './attached.server-host';
export type { LiveServer } from './live-server';
export { OwnedServerHost } from './owned.server-host';
export { ServerKeeper } from './server-keeper';
