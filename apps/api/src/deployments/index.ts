export { DeploymentsAdminModule, DeploymentsModule } from './deployments.module';
