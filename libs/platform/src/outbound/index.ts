export { AddressGuard, AddressRefused } from './address-guard';
export { CONNECT_MS } from './connect-limit';
export { GuardedClient, type GuardedAnswer } from './guarded-client';
export { isInNetworks, isWithinNetworks, networkList, readNetworks, type Network } from './networks';
export { type ResolveHost } from './resolve-host';
