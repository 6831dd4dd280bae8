export { inOperatorsWords, warmUpOf } from './pool-warm-up';
