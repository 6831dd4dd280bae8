export { AccountErasureStore } from './account-erasure.store';
