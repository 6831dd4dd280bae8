export { AddressGuard, AddressRefused } from './address-guard';
export { CONNECT_MS, guardedAgent } from './guarded-agent';
export { networkList, readNetworks } from './networks';
export { type ResolveHost } from './resolve-host';
