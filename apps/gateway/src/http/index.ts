export { Gone } from './gone';
export { CATALOGUE, END, Json, LOG, LargeJson, type LargeBody } from './json-body';
export { openGateway } from './open-gateway';
export { IdPipe } from './path-ids';
export { RequestBodies } from './request-bodies';
export { RequestsUnderWay } from './requests-under-way';
export { BodyOf, type RequestBody } from './request-body';
export { Lossy, TokenAllowance, Vital } from './token-allowance';
export { Holder, WorkerTokenGuard } from './worker-token.guard';
