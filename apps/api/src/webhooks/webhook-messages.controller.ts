import { Controller } from '@nestjs/common';
import { WebhookMessages } from '@millrace/webhooks';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { WebhookActs, actingOf } from './webhook-acts';
import {
  listWebhookMessages,
  replayWebhookMessage,
  replayWebhookMessages,
  rotateWebhookSecret,
  testWebhookEndpoint,
} from './webhook-messages.endpoints';
import { presentIssuedEndpoint, presentWebhookMessage } from './webhook.presenter';

/** What is sent to an endpoint of the account, and what it is signed with. Each replay and rotation is in the audit log. */
@Controller()
export class WebhookMessagesController {
  constructor(
    private readonly messages: WebhookMessages,
    private readonly acts: WebhookActs,
  ) {}

  @Serves(rotateWebhookSecret)
  async rotate({
    visitor,
    params,
    body,
    request,
  }: InputOf<typeof rotateWebhookSecret>): Promise<AnswerOf<typeof rotateWebhookSecret>> {
    return presentIssuedEndpoint(await this.acts.rotate(actingOf(visitor, request), params.id, body.overlap_seconds));
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
    request,
  }: InputOf<typeof replayWebhookMessage>): Promise<AnswerOf<typeof replayWebhookMessage>> {
    return presentWebhookMessage(await this.acts.replay(actingOf(visitor, request), params.id, params.message_id));
  }

  @Serves(replayWebhookMessages)
  async replaySpan({
    visitor,
    params,
    body,
    request,
  }: InputOf<typeof replayWebhookMessages>): Promise<AnswerOf<typeof replayWebhookMessages>> {
    const { since, until, delivered, cursor } = body;
    const states = delivered ? (['delivered', 'failed'] as const) : (['failed'] as const);
    const span = { since, until, states, cursor };
    const { nextCursor, ...replayed } = await this.acts.replaySpan(actingOf(visitor, request), params.id, span);
    return { ...replayed, ...(nextCursor !== undefined && { next_cursor: nextCursor }) };
  }
}
