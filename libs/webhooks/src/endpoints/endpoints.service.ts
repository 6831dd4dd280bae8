import { Refusal, newId } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { AddressGuard } from '@millrace/platform';
import type { EndpointSecrets } from './endpoint-secrets';
import type { EndpointStore } from './endpoint.store';
import type { EndpointChanges, EndpointDraft, Transact, WebhookEndpoint } from './webhook-endpoint';

/** An endpoint with the secret that its messages are signed with: shown once. */
export interface IssuedEndpoint {
  endpoint: WebhookEndpoint;
  secret: string;
}

/** The endpoints of accounts. Every write runs in a transaction of who calls, who may record more in it. */
export class WebhookEndpoints {
  constructor(
    private readonly database: Database,
    private readonly store: EndpointStore,
    private readonly secrets: EndpointSecrets,
    private readonly guard: AddressGuard,
    private readonly limits: { webhookEndpointsPerAccount: number },
  ) {}

  /** @throws Refusal `invalid_request` for a URL to which nothing is sent; `webhook_endpoint_limit`. */
  async create(
    accountId: string,
    draft: EndpointDraft,
    transact: Transact<WebhookEndpoint> = this.alone,
  ): Promise<IssuedEndpoint> {
    const url = this.receiverOf(draft.url);
    const id = newId();
    const { secret, sealed } = this.secrets.make({ accountId, endpointId: id });
    const endpoint = await transact(async (tx) => {
      const limit = this.limits.webhookEndpointsPerAccount;
      if ((await this.store.countLocked(tx, accountId)) >= limit) throw tooMany(limit);
      const created = await this.store.create(tx, { ...draft, url, id, accountId });
      await this.store.addSecret(tx, id, sealed);
      return created;
    });
    return { endpoint, secret };
  }

  /** Newest first. */
  async list(accountId: string): Promise<WebhookEndpoint[]> {
    return this.store.list(this.database, accountId);
  }

  /** @throws Refusal `not_found`. */
  async get(accountId: string, id: string): Promise<WebhookEndpoint> {
    return found(await this.store.find(this.database, accountId, id), id);
  }

  /** @throws Refusal `not_found`; `invalid_request` for a URL to which nothing is sent. */
  async change(
    accountId: string,
    id: string,
    changes: EndpointChanges,
    transact: Transact<WebhookEndpoint> = this.alone,
  ): Promise<WebhookEndpoint> {
    const url = changes.url === undefined ? undefined : this.receiverOf(changes.url);
    return transact(async (tx) => found(await this.store.change(tx, accountId, id, { ...changes, url }), id));
  }

  /**
   * Sign with a new secret, and for the overlap with those before as well.
   *
   * @throws Refusal `not_found`.
   */
  async rotateSecret(
    accountId: string,
    id: string,
    overlapSeconds: number,
    transact: Transact<WebhookEndpoint> = this.alone,
  ): Promise<IssuedEndpoint> {
    const { secret, sealed } = this.secrets.make({ accountId, endpointId: id });
    const endpoint = await transact(async (tx) => {
      const locked = found(await this.store.findLocked(tx, accountId, id), id);
      await this.store.expireSecrets(tx, id, overlapSeconds);
      await this.store.addSecret(tx, id, sealed);
      return locked;
    });
    return { endpoint, secret };
  }

  /** @throws Refusal `not_found`. */
  async delete(accountId: string, id: string, transact: Transact<WebhookEndpoint> = this.alone): Promise<void> {
    await transact(async (tx) => found(await this.store.delete(tx, accountId, id), id));
  }

  private readonly alone: Transact<WebhookEndpoint> = (act) => this.database.transaction(act);

  /**
   * A URL in the one form that each has (WHATWG URL, "URL serializing"), so that two are the same where their texts are. It may be longer than what
   * was asked for.
   */
  private receiverOf(asked: string): string {
    const url = URL.canParse(asked) ? new URL(asked).href : asked;
    const fault = this.guard.faultOf(asked) ?? this.guard.faultOf(url);
    if (fault !== null) throw Refusal.ofFields([{ field: 'url', reason: fault }]);
    return url;
  }
}

function found(endpoint: WebhookEndpoint | null, id: string): WebhookEndpoint {
  if (endpoint === null) throw new Refusal('not_found', `There is no webhook endpoint ${id}.`);
  return endpoint;
}

function tooMany(limit: number): Refusal {
  return new Refusal(
    'webhook_endpoint_limit',
    `The account has ${limit} webhook endpoints, the most that it may have.`,
  );
}
