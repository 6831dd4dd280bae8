export { BookErasureStore } from './book-erasure.store';
