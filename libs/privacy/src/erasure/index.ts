export { CarryOutErasuresLoop } from './carry-out-erasures.loop';
export { ERASURE_COUNTS, type Erasure } from './erasure';
export { ErasureRunner } from './erasure-runner';
export { ErasureSteps } from './erasure-steps';
export { ErasureStore } from './erasure.store';
export { Erasures } from './erasures.service';
