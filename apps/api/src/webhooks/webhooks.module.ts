import { Module } from '@nestjs/common';
import { WebhookActs } from './webhook-acts';
import { WebhookEndpointsController } from './webhook-endpoints.controller';
import { WebhookMessagesController } from './webhook-messages.controller';

/** Where an account has its events sent, to the account. */
@Module({ controllers: [WebhookEndpointsController, WebhookMessagesController], providers: [WebhookActs] })
export class WebhooksModule {}
