export { JobEraser } from './job-eraser';
export { JobErasureStore } from './job-erasure.store';
