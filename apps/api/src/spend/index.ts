export { SpendAdminModule, SpendModule } from './spend.module';
