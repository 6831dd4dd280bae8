export { AddressGuard, AddressRefused } from './address-guard';
export { CONNECT_MS } from './connect-limit';
export { GuardedClient, type GuardedAnswer } from './guarded-client';
export { networkList, readNetworks } from './networks';
export { type ResolveHost } from './resolve-host';
