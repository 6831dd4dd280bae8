export { readNetworks } from './networks';
export { ReceiverClient, type SendResult } from './receiver-client';
export { ReceiverGuard } from './receiver-guard';
export { type ResolveHost } from './resolve-host';
