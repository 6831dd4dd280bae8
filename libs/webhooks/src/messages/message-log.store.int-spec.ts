import { Prisma } from '@prisma/client';
import { lowestIdAt } from '@millrace/contracts';
import { LOOKED_AT, type Page } from '@millrace/database';
import { createTestDatabase, readingsOf, type TestDatabase } from '@millrace/testing';
import { WebhookWorld } from '../fixtures/webhook-world';
import { MessageLogStore, type LoggedMessage, type MessagePage, type MessageState } from './message-log.store';

/** Enough that PostgreSQL prefers an index wherever there is one that serves. */
const MESSAGES = 20_000;
const LIMIT = 20;
const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const SECOND_MS = 1_000;
const URL = 'http://127.0.0.1:9/hook';

let test: TestDatabase;
let world: WebhookWorld;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new WebhookWorld(test);
  accountId = await world.account();
  endpointId = await makeEndpoint(accountId);
  await fill(endpointId, Prisma.sql`'failed'`, 1, BEGIN);
  await fill(endpointId, Prisma.sql`'delivered'`, MESSAGES, BEGIN + SECOND_MS);
  // All messages of others are newer: who walks the log of all endpoints reads them in vain.
  const other = await makeEndpoint(await world.account());
  await fill(other, Prisma.sql`'delivered'`, MESSAGES, BEGIN + 2 * MESSAGES * SECOND_MS);
  await test.database.execute(Prisma.sql`ANALYZE webhook_messages`);
});
afterAll(() => test.drop());

const makeEndpoint = async (account: string): Promise<string> => (await world.endpoint(account, URL)).endpoint.id;

/** Make messages, a second after each other. @param state of message number `n`. */
async function fill(endpoint: string, state: Prisma.Sql, count: number, at: number): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO webhook_messages (id, endpoint_id, type, job_id, state, ended_at)
    SELECT (lpad(to_hex(${at}::bigint + n * ${SECOND_MS}::bigint), 12, '0') || '7000' || right(md5(random()::text), 16))::uuid,
      ${endpoint}::uuid, 'job.succeeded', gen_random_uuid(), ${state}, now()
    FROM generate_series(0, ${count - 1}::int) n`);
}

/** All pages of the log, one after the other. */
async function pagesOf(endpoint: string, state: MessageState | null, limit = LIMIT): Promise<LoggedMessage[][]> {
  const pages: LoggedMessage[][] = [];
  for (let cursor: string | null | undefined = null; cursor !== undefined;) {
    const page: Page<LoggedMessage> = await world.log.list(accountId, endpoint, { cursor, limit, state });
    pages.push(page.items);
    cursor = page.nextCursor;
  }
  return pages;
}

describe('a page of messages', () => {
  const middle = lowestIdAt(BEGIN + (MESSAGES / 2) * SECOND_MS);
  it.each<[string, Partial<MessagePage>, number]>([
    ['the newest', {}, LIMIT + 1],
    ['after a cursor', { before: middle }, LIMIT + 1],
    ['of those delivered', { state: 'delivered' }, LIMIT + 1],
    ['of those that failed', { state: 'failed' }, LOOKED_AT],
    ['of those that failed, after a cursor', { state: 'failed', before: middle }, LOOKED_AT],
  ])('%s is read by the index of its endpoint, and looks at no more than a thousand', async (_what, page, most) => {
    const sql = new MessageLogStore().listSql(endpointId, { before: null, limit: LIMIT, state: null, ...page });
    const readings = await readingsOf(test.database, sql, 'webhook_messages');
    expect(readings.map(({ node, index }) => [node, index])).toEqual([['Index Scan', 'webhook_messages_log_idx']]);
    expect(readings[0]?.rows).toBeLessThanOrEqual(most);
  });
});

describe('the pages of a log', () => {
  it('have no message while none is found, and say where it goes on', async () => {
    const pages = await pagesOf(endpointId, 'failed');
    expect(pages.map(({ length }) => length)).toEqual([...Array.from({ length: MESSAGES / LOOKED_AT }, () => 0), 1]);
    expect(pages.at(-1)?.[0]?.createdAt).toEqual(new Date(BEGIN));
    expect((await pagesOf(endpointId, 'pending')).flat()).toEqual([]);
  });

  it.each([7, 100])('have each message of a state once, newest first, %i at a time', async (limit) => {
    const endpoint = await makeEndpoint(accountId);
    await fill(endpoint, Prisma.sql`CASE WHEN n % 11 < 2 OR n > 2900 THEN 'failed' ELSE 'delivered' END`, 3_000, BEGIN);
    const stored = (await world.messages(endpoint)).reverse();
    for (const state of [null, 'failed', 'delivered'] as const) {
      const expected = stored.filter((message) => state === null || message.state === state);
      const pages = await pagesOf(endpoint, state, limit);
      expect(pages.flat().map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      expect(Math.max(...pages.map(({ length }) => length))).toBe(limit);
    }
  });
});
