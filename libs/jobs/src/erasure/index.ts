export { JobEraser, type ManyJobs } from './job-eraser';
export { JobErasureStore, type DeletedJobs } from './job-erasure.store';
