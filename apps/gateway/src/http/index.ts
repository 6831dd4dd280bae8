export { Gone } from './gone';
export { Json, LARGE_BYTES } from './json-body';
export { openGateway } from './open-gateway';
export { IdPipe } from './path-ids';
export { Holder, TokenAllowance, WorkerTokenGuard } from './worker-token.guard';
