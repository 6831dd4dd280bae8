export { PrivacyAdminModule, PrivacyModule } from './privacy.module';
