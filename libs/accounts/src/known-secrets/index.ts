export { CachedHolders } from './cached-holders';
export { KnownSecrets } from './known-secrets';
