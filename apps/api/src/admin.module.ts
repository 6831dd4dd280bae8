import { Module } from '@nestjs/common';
import { AccountsAdminModule } from './accounts';
import { ApiKeysAdminModule } from './api-keys';
import { CreditsAdminModule } from './credits';
import { DeploymentsAdminModule } from './deployments';
import { JobsAdminModule } from './jobs';
import { ModelsAdminModule } from './models';
import { AdminOpenApiModule } from './openapi';
import { OperationsModule } from './operations';
import { OperatorsAdminModule } from './operators';
import { PrivacyAdminModule } from './privacy';
import { SessionsAdminModule } from './sessions';
import { SpendAdminModule } from './spend';

/** The admin API: what the ops listener serves besides health and metrics. */
@Module({
  imports: [
    AccountsAdminModule,
    ApiKeysAdminModule,
    CreditsAdminModule,
    DeploymentsAdminModule,
    JobsAdminModule,
    ModelsAdminModule,
    OperationsModule,
    OperatorsAdminModule,
    PrivacyAdminModule,
    SessionsAdminModule,
    SpendAdminModule,
    AdminOpenApiModule,
  ],
})
export class AdminModule {}
