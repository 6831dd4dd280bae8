import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AuditLog, type Act, type Caller, type Operator } from '@millrace/accounts';
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
import { actorOf } from '../endpoints';
import { assertReadsEvents, hiddenEvents } from './event-scopes';

type ReplayedSpan = Parameters<WebhookMessages['replaySpan']>[2];
type Details = Act['details'];

/** Who acts: the account, with what its key may do, and how the audit log names it. */
export interface Acting {
  caller: Pick<Caller, 'accountId' | 'scopes'>;
  operator: Operator;
}

/**
 * What accounts do to their webhook endpoints. Every act is in the audit log. A key has nothing sent that it may not read: the rule holds for what is
 * there when the act is written.
 */
@Injectable()
export class WebhookActs {
  constructor(
    private readonly audit: AuditLog,
    private readonly endpoints: WebhookEndpoints,
    private readonly messages: WebhookMessages,
  ) {}

  /** @throws Refusal `forbidden` for events that the key may not read; what `WebhookEndpoints.create` throws. */
  async create({ caller, operator }: Acting, draft: EndpointDraft): Promise<IssuedEndpoint> {
    assertReadsEvents(caller, draft.eventTypes);
    const detailsOf = ({ url, eventTypes }: WebhookEndpoint): Details => ({ host: hostOf(url), events: eventTypes });
    return this.endpoints.create(caller.accountId, draft, this.recorded(operator, 'create', detailsOf));
  }

  /**
   * Messages that wait go to a new URL, too, those among them whose events the endpoint has no more.
   *
   * @throws Refusal `forbidden` where the URL or the events change and the key may not read what the endpoint gets then; what
   *   `WebhookEndpoints.change` throws.
   */
  async change({ caller, operator }: Acting, id: string, changes: EndpointChanges): Promise<WebhookEndpoint> {
    const { url, eventTypes, enabled } = changes;
    const detailsOf = (changed: WebhookEndpoint): Details => ({
      ...(url !== undefined && { host: hostOf(changed.url) }),
      ...(eventTypes !== undefined && { events: changed.eventTypes }),
      ...(enabled !== undefined && { enabled }),
    });
    const record = this.recorded(operator, 'update', detailsOf);
    const transact: Transact<WebhookEndpoint> = (act) =>
      record(async (tx) => {
        const changed = await act(tx);
        if (url !== undefined || eventTypes !== undefined) assertReadsEvents(caller, changed.eventTypes);
        if (url !== undefined) assertReadsEvents(caller, await this.messages.waiting(tx, id, hiddenEvents(caller)));
        return changed;
      });
    return this.endpoints.change(caller.accountId, id, changes, transact);
  }

  async rotate({ caller, operator }: Acting, id: string, overlapSeconds: number): Promise<IssuedEndpoint> {
    const detailsOf = (): Details => ({ overlap_seconds: overlapSeconds });
    const transact = this.recorded(operator, 'rotate', detailsOf);
    return this.endpoints.rotateSecret(caller.accountId, id, overlapSeconds, transact);
  }

  async remove({ caller, operator }: Acting, id: string): Promise<void> {
    const detailsOf = ({ url }: WebhookEndpoint): Details => ({ host: hostOf(url) });
    await this.endpoints.delete(caller.accountId, id, this.recorded(operator, 'delete', detailsOf));
  }

  /** @throws Refusal `forbidden` for a message whose event the key may not read; what `WebhookMessages.replay` throws. */
  async replay({ caller, operator }: Acting, id: string, messageId: string): Promise<LoggedMessage> {
    const { accountId } = caller;
    const act = actOf('replay', { id, accountId }, { message_id: messageId });
    const transact = this.with<LoggedMessage>(operator, ({ type }) => {
      assertReadsEvents(caller, [type]);
      return act;
    });
    return this.messages.replay(accountId, id, messageId, transact);
  }

  /** Without the messages whose events the key may not read. */
  async replaySpan(
    { caller, operator }: Acting,
    id: string,
    span: Omit<ReplayedSpan, 'without'>,
  ): ReturnType<WebhookMessages['replaySpan']> {
    const { accountId } = caller;
    const { since = null, until = null, states } = span;
    const asked = { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null, states };
    const transact = this.with(operator, ({ replayed }: ReplayedMessages) =>
      actOf('replay', { id, accountId }, { ...asked, replayed }),
    );
    return this.messages.replaySpan(accountId, id, { ...span, without: hiddenEvents(caller) }, transact);
  }

  private recorded(
    operator: Operator,
    verb: string,
    detailsOf: (endpoint: WebhookEndpoint) => Details,
  ): Transact<WebhookEndpoint> {
    return this.with(operator, (endpoint) => actOf(verb, endpoint, detailsOf(endpoint)));
  }

  /** Runs an act in one transaction with its entry. What `actOfResult` throws undoes it. */
  private with<T>(operator: Operator, actOfResult: (result: T) => Act): Transact<T> {
    return (act) =>
      this.audit.record(operator, async (tx, note) => {
        const result = await act(tx);
        note(actOfResult(result));
        return result;
      });
  }
}

/** Who sent a request, as the one who acts. */
export const actingOf = ({ caller }: { caller: Caller }, request: Request): Acting => ({
  caller,
  operator: actorOf(caller, request),
});

function actOf(verb: string, { id, accountId }: Pick<WebhookEndpoint, 'id' | 'accountId'>, details: Details): Act {
  return { action: `webhook_endpoint.${verb}`, subjectType: 'webhook_endpoint', subjectId: id, accountId, details };
}

/** What else is in a URL may be a secret of its receiver. */
const hostOf = (url: string): string => new URL(url).host;
