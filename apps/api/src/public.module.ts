import { Module } from '@nestjs/common';
import { AccountsModule } from './accounts';
import { ApiKeysModule } from './api-keys';
import { AssetsModule } from './assets';
import { CreditsModule } from './credits';
import { DeploymentsModule } from './deployments';
import { EndpointsModule } from './endpoints';
import { JobsModule } from './jobs';
import { OpenApiModule } from './openapi';
import { SessionsModule } from './sessions';
import { UploadsModule } from './uploads';
import { WebhooksModule } from './webhooks';

/** What the public listener serves. */
@Module({
  imports: [
    EndpointsModule,
    JobsModule,
    AssetsModule,
    UploadsModule,
    AccountsModule,
    ApiKeysModule,
    DeploymentsModule,
    CreditsModule,
    SessionsModule,
    WebhooksModule,
    OpenApiModule,
  ],
})
export class PublicModule {}
