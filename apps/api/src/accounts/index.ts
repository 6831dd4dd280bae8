export { AccountsAdminModule, AccountsModule } from './accounts.module';
