export { OperatorsAdminModule } from './operators.module';
