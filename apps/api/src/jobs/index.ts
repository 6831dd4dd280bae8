export { Destinations } from './destinations';
export { presentEstimate } from './estimate.presenter';
export { jobQuery, readMetadataFilter } from './job-query';
export { JobsAdminModule, JobsModule } from './jobs.module';
export { ShownNodeClasses } from './shown-classes';
