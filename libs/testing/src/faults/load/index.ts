export { BatchClient } from './batch-client';
export { ErasureClient, isErasing } from './erasure-client';
export { HookReceiver } from './hook-receiver';
export { History } from './history';
export { type LoadTarget } from './load-calls';
export { LoadClient } from './load-client';
export { ModelClient } from './model-client';
export { SpendClient, makeSpender, type SpendHistory, type Spender } from './spend-client';
export { NoticeClient, ageKeys, type NoticeHistory } from './notice-client';
