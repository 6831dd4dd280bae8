export { EngineWarmUp } from './engine-warm-up';
export { inOperatorsWords, warmUpOf } from './pool-warm-up';
