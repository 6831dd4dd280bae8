import { Module } from '@nestjs/common';
import { AccountsModule } from './accounts';
import { ApiKeysModule } from './api-keys';
import { AssetsModule } from './assets';
import { BatchesModule } from './batches';
import { CreditsModule } from './credits';
import { DeploymentsModule } from './deployments';
import { EndpointsModule } from './endpoints';
import { ExportsModule } from './exports';
import { JobsModule } from './jobs';
import { LabelsModule } from './labels';
import { McpModule } from './mcp';
import { ModelsModule } from './models';
import { OpenApiModule } from './openapi';
import { PrivacyModule } from './privacy';
import { SessionsModule } from './sessions';
import { SpendModule } from './spend';
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
    DeploymentsModule,
    CreditsModule,
    ExportsModule,
    SessionsModule,
    WebhooksModule,
    LabelsModule,
    SpendModule,
    PrivacyModule,
    ModelsModule,
    McpModule,
    OpenApiModule,
  ],
})
export class PublicModule {}
