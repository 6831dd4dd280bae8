export { JobsPage } from './jobs-page';
export { readJobsSearch } from './jobs-search';
