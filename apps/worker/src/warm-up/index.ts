export { WarmUpFailed } from './engine-warm-up';
export { warmUpOf } from './pool-warm-up';
