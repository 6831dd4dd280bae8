export { CreditsAdminModule, CreditsModule } from './credits.module';
