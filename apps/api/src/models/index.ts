export { ModelsAdminModule, ModelsModule } from './models.module';
