import { Controller } from '@nestjs/common';
import { WebhookEndpoints, WebhookMessages } from '@millrace/webhooks';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import {
  listWebhookMessages,
  replayWebhookMessage,
  replayWebhookMessages,
  rotateWebhookSecret,
  testWebhookEndpoint,
} from './webhook-messages.endpoints';
import { presentIssuedEndpoint, presentWebhookMessage } from './webhook.presenter';

/** What is sent to an endpoint of the account, and what it is signed with. */
@Controller()
export class WebhookMessagesController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly messages: WebhookMessages,
  ) {}

  @Serves(rotateWebhookSecret)
  async rotate({
    visitor,
    params,
    body,
  }: InputOf<typeof rotateWebhookSecret>): Promise<AnswerOf<typeof rotateWebhookSecret>> {
    const { accountId } = visitor.caller;
    return presentIssuedEndpoint(await this.endpoints.rotateSecret(accountId, params.id, body.overlap_seconds));
  }

  @Serves(testWebhookEndpoint)
  async test({ visitor, params }: InputOf<typeof testWebhookEndpoint>): Promise<AnswerOf<typeof testWebhookEndpoint>> {
    return presentWebhookMessage(await this.messages.test(visitor.caller.accountId, params.id));
  }

  @Serves(listWebhookMessages)
  async list({
    visitor,
    params,
    query,
  }: InputOf<typeof listWebhookMessages>): Promise<AnswerOf<typeof listWebhookMessages>> {
    const { limit, cursor, state = null } = query;
    const page = await this.messages.list(visitor.caller.accountId, params.id, { limit, cursor, state });
    return presentPage('messages', page, presentWebhookMessage);
  }

  @Serves(replayWebhookMessage)
  async replay({
    visitor,
    params,
  }: InputOf<typeof replayWebhookMessage>): Promise<AnswerOf<typeof replayWebhookMessage>> {
    return presentWebhookMessage(await this.messages.replay(visitor.caller.accountId, params.id, params.message_id));
  }

  @Serves(replayWebhookMessages)
  async replaySpan({
    visitor,
    params,
    body,
  }: InputOf<typeof replayWebhookMessages>): Promise<AnswerOf<typeof replayWebhookMessages>> {
    const { since, until, delivered, cursor } = body;
    const states = delivered ? (['delivered', 'failed'] as const) : (['failed'] as const);
    const span = { since, until, states, cursor };
    const { nextCursor, ...replayed } = await this.messages.replaySpan(visitor.caller.accountId, params.id, span);
    return { ...replayed, ...(nextCursor !== undefined && { next_cursor: nextCursor }) };
  }
}
