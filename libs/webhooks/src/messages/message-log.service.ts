import { Refusal, isUuid, lowestIdAt } from '@millrace/contracts';
import { decodeCursor, pageOf, type Page, type Statements } from '@millrace/database';
import type { WebhookEndpoints } from '../endpoints';
import type { LoggedMessage, MessageLogStore, MessageState } from './message-log.store';

const LIST = 'webhook messages';
/** Of a replay of a span; a longer one takes several requests. */
const REPLAYED_AT_ONCE = 10_000;
/** The type of what is sent on request, and by no event. */
const TEST_TYPE = 'webhook.test';

/** What was sent to an endpoint, for its owner, who has it sent again. */
export class WebhookMessages {
  constructor(
    private readonly database: Statements,
    private readonly endpoints: Pick<WebhookEndpoints, 'get'>,
    private readonly store: MessageLogStore,
  ) {}

  /** Newest first. @throws Refusal `not_found`, `invalid_cursor`. */
  async list(
    accountId: string,
    endpointId: string,
    { cursor, limit, state }: { cursor: string | null; limit: number; state: MessageState | null },
  ): Promise<Page<LoggedMessage>> {
    await this.endpoints.get(accountId, endpointId);
    const before = cursor === null ? null : decodeCursor(LIST, cursor, isUuid);
    const messages = await this.store.list(this.database, endpointId, { before, limit, state });
    return pageOf(LIST, messages, limit, ({ id }) => id);
  }

  /** Send a message that no event made. @throws Refusal `not_found`; `invalid_request` where nothing is sent. */
  async test(accountId: string, endpointId: string): Promise<LoggedMessage> {
    const { disabledAt } = await this.endpoints.get(accountId, endpointId);
    if (disabledAt !== null) throw new Refusal('invalid_request', 'The endpoint is disabled: enable it first.');
    return this.get(endpointId, await this.store.createTest(this.database, endpointId, TEST_TYPE));
  }

  /** Send a message again; one that is still being sent stays as it is. @throws Refusal `not_found`. */
  async replay(accountId: string, endpointId: string, id: string): Promise<LoggedMessage> {
    await this.endpoints.get(accountId, endpointId);
    await this.store.replay(this.database, endpointId, id);
    return this.get(endpointId, id);
  }

  /**
   * Send messages again whose events happened in a span.
   *
   * @param since absent: from the first that is kept. @param until absent: to the latest. @param states those that ended so.
   * @returns how many, and whether there may be more in the span.
   * @throws Refusal `not_found`.
   */
  async replaySpan(
    accountId: string,
    endpointId: string,
    { since = new Date(0), until, states }: { since?: Date; until?: Date; states: readonly MessageState[] },
  ): Promise<{ replayed: number; more: boolean }> {
    await this.endpoints.get(accountId, endpointId);
    const span = {
      from: lowestIdAt(since.getTime()),
      until: until === undefined ? null : lowestIdAt(until.getTime()),
    };
    const limit = REPLAYED_AT_ONCE;
    const replayed = await this.store.replaySpan(this.database, endpointId, { ...span, states, limit });
    return { replayed, more: replayed === limit };
  }

  private async get(endpointId: string, id: string): Promise<LoggedMessage> {
    const message = await this.store.find(this.database, endpointId, id);
    if (message === null) throw new Refusal('not_found', `There is no webhook message ${id} of this endpoint.`);
    return message;
  }
}
