export { BatchPage } from './batch-page';
export { BatchesPage } from './batches-page';
