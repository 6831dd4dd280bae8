export { type WorkerTokenHolder, type WorkerTokenRecord } from './worker-token';
export { WorkerTokenStore } from './worker-token.store';
export { WorkerTokens } from './worker-tokens.service';
