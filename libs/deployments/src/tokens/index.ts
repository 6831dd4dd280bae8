export { type WorkerTokenHolder, type WorkerTokenRecord } from './worker-token';
export { WorkerTokenStore } from './worker-token.store';
export { WorkerTokens, type IssuedWorkerToken } from './worker-tokens.service';
