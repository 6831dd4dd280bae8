export { ModelErasureStore } from './model-erasure.store';
