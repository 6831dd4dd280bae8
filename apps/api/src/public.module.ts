import { Module } from '@nestjs/common';
import { AccountsModule } from './accounts';
import { ApiKeysModule } from './api-keys';
import { AssetsModule } from './assets';
import { AuditModule } from './audit';
import { BatchesModule } from './batches';
import { CreditsModule } from './credits';
import { DeploymentsModule } from './deployments';
import { EndpointsModule } from './endpoints';
import { ExportsModule } from './exports';
import { JobsModule } from './jobs';
import { LabelsModule } from './labels';
import { MembersModule } from './members';
import { McpModule } from './mcp';
import { ModelsModule } from './models';
import { OpenApiModule } from './openapi';
import { PrivacyModule } from './privacy';
import { SessionsModule } from './sessions';
import { SpendModule } from './spend';
import { StatusModule } from './status';
import { UploadsModule } from './uploads';
import { WebhooksModule } from './webhooks';

/** What the public listener serves. */
@Module({
  imports: [
    EndpointsModule,
    JobsModule,
    BatchesModule,
    AssetsModule,
    UploadsModule,
    AccountsModule,
    ApiKeysModule,
    MembersModule,
    AuditModule,
    DeploymentsModule,
    CreditsModule,
    ExportsModule,
    SessionsModule,
    WebhooksModule,
    LabelsModule,
    SpendModule,
    StatusModule,
    PrivacyModule,
    ModelsModule,
    McpModule,
    OpenApiModule,
  ],
})
export class PublicModule {}
