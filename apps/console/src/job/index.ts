export { JobPage } from './job-page';
