export { JobsAdminModule, JobsModule } from './jobs.module';
