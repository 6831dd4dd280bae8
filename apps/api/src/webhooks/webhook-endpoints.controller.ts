import { Controller } from '@nestjs/common';
import { WebhookEndpoints } from '@millrace/webhooks';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { WebhookActs, actingOf } from './webhook-acts';
import { presentIssuedEndpoint, presentWebhookEndpoint } from './webhook.presenter';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  updateWebhookEndpoint,
} from './webhook-endpoints.endpoints';

/** Where the account has its events sent. Each change is in the audit log. */
@Controller()
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly acts: WebhookActs,
  ) {}

  @Serves(listWebhookEndpoints)
  async list({ visitor }: InputOf<typeof listWebhookEndpoints>): Promise<AnswerOf<typeof listWebhookEndpoints>> {
    const endpoints = await this.endpoints.list(visitor.caller.accountId);
    return { webhook_endpoints: endpoints.map(presentWebhookEndpoint) };
  }

  @Serves(createWebhookEndpoint)
  async create({
    visitor,
    body,
    request,
  }: InputOf<typeof createWebhookEndpoint>): Promise<AnswerOf<typeof createWebhookEndpoint>> {
    const { url, events, description } = body;
    const { origin } = visitor.surface;
    const draft = { url, description, eventTypes: [...new Set(events)], origin };
    return presentIssuedEndpoint(await this.acts.create(actingOf(visitor, request), draft));
  }

  @Serves(getWebhookEndpoint)
  async get({ visitor, params }: InputOf<typeof getWebhookEndpoint>): Promise<AnswerOf<typeof getWebhookEndpoint>> {
    return presentWebhookEndpoint(await this.endpoints.get(visitor.caller.accountId, params.id));
  }

  @Serves(updateWebhookEndpoint)
  async update({
    visitor,
    params,
    body,
    request,
  }: InputOf<typeof updateWebhookEndpoint>): Promise<AnswerOf<typeof updateWebhookEndpoint>> {
    const { events, ...rest } = body;
    const { origin } = visitor.surface;
    const changes = { ...rest, eventTypes: events && [...new Set(events)], origin };
    return presentWebhookEndpoint(await this.acts.change(actingOf(visitor, request), params.id, changes));
  }

  @Serves(deleteWebhookEndpoint)
  async remove({ visitor, params, request }: InputOf<typeof deleteWebhookEndpoint>): Promise<void> {
    await this.acts.remove(actingOf(visitor, request), params.id);
  }
}
