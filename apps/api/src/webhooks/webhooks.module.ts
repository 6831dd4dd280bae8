import { Module } from '@nestjs/common';
import { WebhookEndpointsController } from './webhook-endpoints.controller';

/** Where an account has its events sent, to the account. */
@Module({ controllers: [WebhookEndpointsController] })
export class WebhooksModule {}
