import { Refusal, isUuid, lowestIdAt } from '@millrace/contracts';
import { decodeCursor, encodeCursor, type Database, type Page, type Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import type { Transact, WebhookEndpoints } from '../endpoints';
import type { LoggedMessage, MessageLogStore, MessageState, ReplayedMessages } from './message-log.store';

const LIST = 'webhook messages';
const REPLAY = 'replayed webhook messages';
/** Of a replay of a span; a longer one takes several requests. */
const REPLAYED_AT_ONCE = 10_000;
/** Of one account: a span may have any number of messages, and few that failed. */
const REPLAYS_AT_A_TIME = 1;
/** The type of what is sent on request, and by no event. */
const TEST_TYPE = 'webhook.test';

/** What was sent to an endpoint, for its owner, who has it sent again. A replay runs in a transaction of who calls, who may record more in it. */
export class WebhookMessages {
  private readonly turns = new Turns(REPLAYS_AT_A_TIME, 'replays');

  constructor(
    private readonly database: Pick<Database, 'transaction'> & Statements,
    private readonly endpoints: Pick<WebhookEndpoints, 'get'>,
    private readonly store: MessageLogStore,
    private readonly replayedAtOnce = REPLAYED_AT_ONCE,
  ) {}

  /**
   * Newest first. A page has fewer messages than `limit`, or none, where few of the many behind it are in the state.
   *
   * @throws Refusal `not_found`, `invalid_cursor`.
   */
  async list(
    accountId: string,
    endpointId: string,
    { cursor, limit, state }: { cursor: string | null; limit: number; state: MessageState | null },
  ): Promise<Page<LoggedMessage>> {
    await this.endpoints.get(accountId, endpointId);
    const before = cursor === null ? null : decodeCursor(LIST, cursor, isUuid);
    const { messages, last } = await this.store.list(this.database, endpointId, { before, limit, state });
    return { items: messages, ...(last !== null && { nextCursor: encodeCursor(LIST, last) }) };
  }

  /** Send a message that no event made. @throws Refusal `not_found`; `invalid_request` where nothing is sent. */
  async test(accountId: string, endpointId: string): Promise<LoggedMessage> {
    const { disabledAt } = await this.endpoints.get(accountId, endpointId);
    if (disabledAt !== null) throw new Refusal('invalid_request', 'The endpoint is disabled: enable it first.');
    return this.get(this.database, endpointId, await this.store.createTest(this.database, endpointId, TEST_TYPE));
  }

  /** Send a message again; one that is still being sent stays as it is. @throws Refusal `not_found`. */
  async replay(
    accountId: string,
    endpointId: string,
    id: string,
    transact: Transact<LoggedMessage> = (act) => this.database.transaction(act),
  ): Promise<LoggedMessage> {
    await this.endpoints.get(accountId, endpointId);
    return transact(async (tx) => {
      await this.store.replay(tx, endpointId, id);
      return this.get(tx, endpointId, id);
    });
  }

  /**
   * Send messages again whose events happened in a span.
   *
   * @param since absent: from the first that is kept. @param until absent: to the latest. @param states those that ended so.
   * @param without types of which none is sent.
   * @param cursor behind what an earlier answer has looked at; null: from the beginning of the span.
   * @returns how many, and whether there may be more in the span: then `nextCursor` goes on there.
   * @throws Refusal `not_found`, `invalid_cursor`, `rate_limited`.
   */
  async replaySpan(
    accountId: string,
    endpointId: string,
    {
      since = new Date(0),
      until,
      states,
      without = [],
      cursor = null,
    }: {
      since?: Date;
      until?: Date;
      states: readonly MessageState[];
      without?: readonly string[];
      cursor?: string | null;
    },
    transact: Transact<ReplayedMessages> = (act) => this.database.transaction(act),
  ): Promise<{ replayed: number; more: boolean; nextCursor?: string }> {
    await this.endpoints.get(accountId, endpointId);
    const limit = this.replayedAtOnce;
    const span = {
      from: lowestIdAt(since.getTime()),
      after: cursor === null ? null : decodeCursor(REPLAY, cursor, isUuid),
      until: until === undefined ? null : lowestIdAt(until.getTime()),
      states,
      without,
      limit,
    };
    const { replayed, lookedAt, last } = await this.turns.run(accountId, () =>
      transact((tx) => this.store.replaySpan(tx, endpointId, span)),
    );
    if (lookedAt < limit || last === null) return { replayed, more: false };
    return { replayed, more: true, nextCursor: encodeCursor(REPLAY, last) };
  }

  /** Of these types those of which messages wait to be sent to an endpoint of the caller's. */
  async waiting(statements: Statements, endpointId: string, types: readonly string[]): Promise<string[]> {
    return types.length === 0 ? [] : this.store.waiting(statements, endpointId, types);
  }

  private async get(statements: Statements, endpointId: string, id: string): Promise<LoggedMessage> {
    const message = await this.store.find(statements, endpointId, id);
    if (message === null) throw new Refusal('not_found', `There is no webhook message ${id} of this endpoint.`);
    return message;
  }
}
