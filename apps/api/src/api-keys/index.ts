export { ApiKeysAdminModule, ApiKeysModule } from './api-keys.module';
