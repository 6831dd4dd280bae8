export { AUDITORS } from './audit.controller';
export { OperationsModule } from './operations.module';
