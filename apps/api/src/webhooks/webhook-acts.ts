import { Injectable } from '@nestjs/common';
import { AuditLog, type Act, type Operator } from '@millrace/accounts';
import {
  WebhookEndpoints,
  WebhookMessages,
  type EndpointChanges,
  type EndpointDraft,
  type IssuedEndpoint,
  type LoggedMessage,
  type ReplayedMessages,
  type Transact,
  type WebhookEndpoint,
} from '@millrace/webhooks';

type ReplayedSpan = Parameters<WebhookMessages['replaySpan']>[2];
type Details = Act['details'];

/** What accounts do to their webhook endpoints. Every act is in the audit log. */
@Injectable()
export class WebhookActs {
  constructor(
    private readonly audit: AuditLog,
    private readonly endpoints: WebhookEndpoints,
    private readonly messages: WebhookMessages,
  ) {}

  async create(operator: Operator, accountId: string, draft: EndpointDraft): Promise<IssuedEndpoint> {
    const detailsOf = ({ url, eventTypes }: WebhookEndpoint): Details => ({ host: hostOf(url), events: eventTypes });
    return this.endpoints.create(accountId, draft, this.recorded(operator, 'create', detailsOf));
  }

  async change(operator: Operator, accountId: string, id: string, changes: EndpointChanges): Promise<WebhookEndpoint> {
    const { url, eventTypes, enabled } = changes;
    const detailsOf = (changed: WebhookEndpoint): Details => ({
      ...(url !== undefined && { host: hostOf(changed.url) }),
      ...(eventTypes !== undefined && { events: changed.eventTypes }),
      ...(enabled !== undefined && { enabled }),
    });
    return this.endpoints.change(accountId, id, changes, this.recorded(operator, 'update', detailsOf));
  }

  async rotate(operator: Operator, accountId: string, id: string, overlapSeconds: number): Promise<IssuedEndpoint> {
    const detailsOf = (): Details => ({ overlap_seconds: overlapSeconds });
    const transact = this.recorded(operator, 'rotate', detailsOf);
    return this.endpoints.rotateSecret(accountId, id, overlapSeconds, transact);
  }

  async remove(operator: Operator, accountId: string, id: string): Promise<void> {
    const detailsOf = ({ url }: WebhookEndpoint): Details => ({ host: hostOf(url) });
    await this.endpoints.delete(accountId, id, this.recorded(operator, 'delete', detailsOf));
  }

  async replay(operator: Operator, accountId: string, id: string, messageId: string): Promise<LoggedMessage> {
    const act = actOf('replay', { id, accountId }, { message_id: messageId });
    return this.messages.replay(
      accountId,
      id,
      messageId,
      this.with(operator, () => act),
    );
  }

  async replaySpan(
    operator: Operator,
    accountId: string,
    id: string,
    span: ReplayedSpan,
  ): ReturnType<WebhookMessages['replaySpan']> {
    const { since = null, until = null, states } = span;
    const asked = { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null, states };
    const transact = this.with(operator, ({ replayed }: ReplayedMessages) =>
      actOf('replay', { id, accountId }, { ...asked, replayed }),
    );
    return this.messages.replaySpan(accountId, id, span, transact);
  }

  private recorded(
    operator: Operator,
    verb: string,
    detailsOf: (endpoint: WebhookEndpoint) => Details,
  ): Transact<WebhookEndpoint> {
    return this.with(operator, (endpoint) => actOf(verb, endpoint, detailsOf(endpoint)));
  }

  /** Runs an act in one transaction with its entry. */
  private with<T>(operator: Operator, actOfResult: (result: T) => Act): Transact<T> {
    return (act) =>
      this.audit.record(operator, async (tx, note) => {
        const result = await act(tx);
        note(actOfResult(result));
        return result;
      });
  }
}

function actOf(verb: string, { id, accountId }: Pick<WebhookEndpoint, 'id' | 'accountId'>, details: Details): Act {
  return { action: `webhook_endpoint.${verb}`, subjectType: 'webhook_endpoint', subjectId: id, accountId, details };
}

/** What else is in a URL may be a secret of its receiver. */
const hostOf = (url: string): string => new URL(url).host;
