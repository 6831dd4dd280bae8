import { Prisma } from '@prisma/client';
import { Webhook } from 'standardwebhooks';
import { newId } from '@millrace/contracts';
import { KeyRing } from '@millrace/platform';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import { TestReceiver } from '../fixtures/receiver';
import { WebhookWorld } from '../fixtures/webhook-world';
import type { WebhookEndpoint } from '../endpoints';
import { PAUSES_SECONDS } from '../messages/retry-schedule';
import { claimMessages, claimSql, type ClaimedMessage, type ClaimRoom } from '../messages/claim.store';
import { recordOutcome } from '../messages/outcome.store';
import { ATTEMPTS_PER_ENDPOINT } from './lanes';

let test: TestDatabase;
let world: WebhookWorld;
const receivers: TestReceiver[] = [];
const open = async (answer?: Parameters<typeof TestReceiver.open>[0]): Promise<TestReceiver> => {
  const receiver = await TestReceiver.open(answer);
  receivers.push(receiver);
  return receiver;
};
beforeAll(async () => {
  test = await createTestDatabase();
  world = new WebhookWorld(test);
});
afterEach(() => test.database.execute(Prisma.sql`DELETE FROM webhook_messages`));
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await test.drop();
});

const none = new Map<string, number>();
const ROOM: ClaimRoom = {
  lane: 'quick',
  total: 100,
  perEndpoint: 4,
  perAccount: 16,
  slow: [],
  endpoints: none,
  accounts: none,
  after: null,
};
const inState = (endpointId: string, state: string): Promise<unknown> =>
  eventually(`the message is ${state}`, async () => (await world.messages(endpointId))[0]?.state === state);
const standing = (accountId: string, id: string, holds: (endpoint: WebhookEndpoint) => boolean): Promise<unknown> =>
  eventually('the endpoint stands so', async () => holds(await world.endpoints.get(accountId, id)));
const attempts = (endpointId: string): Promise<number> =>
  test.database.models.webhookAttempt.count({ where: { message: { endpointId } } });
const SENT = { status: 200, error: null, durationMs: 1, answer: '' };

describe('the end of a job', () => {
  it('is recorded once for each endpoint of its account that wants it', async () => {
    const accountId = await world.account();
    const { endpoint: wants } = await world.endpoint(accountId, 'http://127.0.0.1:1/');
    const { endpoint: other } = await world.endpoint(accountId, 'http://127.0.0.1:1/', ['job.failed', 'job.expired']);
    const { endpoint: foreign } = await world.endpoint(await world.account(), 'http://127.0.0.1:1/');
    const jobId = await world.endJob(accountId);
    await world.endJob(accountId, 'succeeded', jobId);
    expect(await world.messages(wants.id)).toMatchObject([
      { type: 'job.succeeded', jobId, state: 'pending', attempt: 0 },
    ]);
    expect(await world.messages(other.id)).toEqual([]);
    expect(await world.messages(foreign.id)).toEqual([]);
  });

  it('is not recorded for a deleted endpoint, and waits for a disabled one', async () => {
    const accountId = await world.account();
    const receiver = await open();
    const { endpoint: deleted } = await world.endpoint(accountId, receiver.url);
    const { endpoint: disabled } = await world.endpoint(accountId, receiver.url);
    const origin = 'https://api.example.com';
    await world.endpoints.delete(accountId, deleted.id);
    await world.endpoints.change(accountId, disabled.id, { origin, enabled: false });
    await world.endJob(accountId);
    expect(await world.messages(deleted.id)).toEqual([]);
    const { send, close } = world.delivery();
    expect(await send()).toBe(0);
    await world.endpoints.change(accountId, disabled.id, { origin, enabled: true });
    expect(await send()).toBe(1);
    await inState(disabled.id, 'delivered');
    await close();
  });
});

describe('a message', () => {
  it('is delivered with a signature that Standard Webhooks verifies, and logged', async () => {
    const accountId = await world.account();
    const receiver = await open((response) => response.writeHead(200).end('thanks'));
    const { endpoint, secret } = await world.endpoint(accountId, receiver.url);
    const jobId = await world.endJob(accountId);
    const { send, close } = world.delivery();
    expect(await send()).toBe(1);
    await inState(endpoint.id, 'delivered');
    const [message] = receiver.received;
    if (message === undefined) throw new Error('nothing was received');
    const payload = new Webhook(secret).verify(message.body, message.headers as Record<string, string>);
    const [{ id } = { id: '' }] = await world.messages(endpoint.id);
    expect(payload).toEqual({
      id,
      type: 'job.succeeded',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      data: { id: jobId, status: 'succeeded' },
    });
    const forged = { ...(message.headers as Record<string, string>), 'webhook-id': newId() };
    expect(() => new Webhook(secret).verify(message.body, forged)).toThrow();
    const log = await test.database.models.webhookAttempt.findMany({ where: { messageId: id } });
    expect(log).toMatchObject([{ attempt: 1, status: 200, error: null, answer: 'thanks' }]);
    await close();
  });

  it('that fails is sent again after pauses that grow, and no more after the last', async () => {
    const accountId = await world.account();
    const receiver = await open((response) => response.writeHead(500).end());
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    await world.endJob(accountId);
    const { send, close } = world.delivery();
    for (const [at, pause] of PAUSES_SECONDS.entries()) {
      expect(await send()).toBe(1);
      await eventually('the attempt is recorded', async () => (await attempts(endpoint.id)) === at + 1);
      const [message] = await world.messages(endpoint.id);
      expect(message).toMatchObject({ state: 'pending', tries: at + 1 });
      expect(message?.dueIn).toBeLessThanOrEqual(pause * 1.2);
      expect(message?.dueIn).toBeGreaterThan(pause * 0.8 - 60);
      await world.makeDue(endpoint.id);
    }
    expect(await send()).toBe(1);
    await inState(endpoint.id, 'failed');
    await world.makeDue(endpoint.id);
    expect(await send()).toBe(0);
    expect(receiver.received).toHaveLength(PAUSES_SECONDS.length + 1);
    await close();
  });

  it('of which nothing could be read was not tried, and is claimed again soon', async () => {
    const accountId = await world.account();
    const receiver = await open((response) => response.writeHead(500).end());
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    await world.endJob(accountId);
    const unreadable = world.delivery(() => Promise.reject(new Error('the database is slow')));
    for (let nth = 0; nth <= PAUSES_SECONDS.length; nth += 1) {
      await expect(unreadable.send()).rejects.toThrow('the database is slow');
      const [message] = await world.messages(endpoint.id);
      expect(message).toMatchObject({ state: 'pending', attempt: nth + 1, tries: 0 });
      expect(message?.dueIn).toBeLessThanOrEqual(5);
      await world.makeDue(endpoint.id);
    }
    await unreadable.close();
    const { send, close } = world.delivery();
    expect(await send()).toBe(1);
    await eventually('the attempt is recorded', async () => (await attempts(endpoint.id)) === 1);
    expect(await world.messages(endpoint.id)).toMatchObject([{ state: 'pending', tries: 1 }]);
    await close();
  });

  it('of a job past its retention is dropped, which says nothing of the endpoint', async () => {
    const accountId = await world.account();
    const receiver = await open();
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    await world.endJob(accountId);
    const { send, close } = world.delivery((jobs) => Promise.resolve(jobs.map(() => null)));
    await send();
    await inState(endpoint.id, 'failed');
    expect(receiver.received).toEqual([]);
    expect(await world.endpoints.get(accountId, endpoint.id)).toMatchObject({ failingSince: null, disabledAt: null });
    await close();
  });
});

describe('an endpoint', () => {
  const failWith = async (status: number): Promise<{ accountId: string; id: string; receiver: TestReceiver }> => {
    const accountId = await world.account();
    const receiver = await open((response) => response.writeHead(status).end());
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    await world.endJob(accountId);
    return { accountId, id: endpoint.id, receiver };
  };

  it('that fails is marked, and not any more once an attempt succeeds', async () => {
    const { accountId, id, receiver } = await failWith(503);
    const { send, close } = world.delivery();
    await send();
    await standing(accountId, id, ({ failingSince }) => failingSince !== null);
    receiver.answer = (response) => response.writeHead(200).end();
    await world.makeDue(id);
    await send();
    await standing(accountId, id, ({ failingSince }) => failingSince === null);
    await close();
  });

  const LONG_AGO = Prisma.sql`now() - interval '73 hours'`;

  it('is not disabled by the first failure after its messages were given up, and begins to fail then', async () => {
    const { accountId, id } = await failWith(500);
    await test.database.execute(Prisma.sql`
      INSERT INTO webhook_messages (endpoint_id, type, state, attempt, tries, ended_at)
      VALUES (${id}::uuid, 'webhook.test', 'failed', 11, 11, ${LONG_AGO})`);
    await test.database.execute(
      Prisma.sql`UPDATE webhook_endpoints SET failing_since = ${LONG_AGO} WHERE id = ${id}::uuid`,
    );
    const { send, close } = world.delivery();
    await send();
    const isNow = (at: Date | null): boolean => at !== null && Date.now() - at.getTime() < 3_600_000;
    await standing(accountId, id, ({ failingSince }) => isNow(failingSince));
    expect(await world.endpoints.get(accountId, id)).toMatchObject({ disabledAt: null, disabledReason: null });
    await close();
  });

  it('is disabled when none has succeeded for three days', async () => {
    const { accountId, id } = await failWith(500);
    await test.database.execute(
      Prisma.sql`UPDATE webhook_endpoints SET failing_since = ${LONG_AGO} WHERE id = ${id}::uuid`,
    );
    await test.database.execute(
      Prisma.sql`UPDATE webhook_messages SET attempt = 3, tries = 3 WHERE endpoint_id = ${id}::uuid`,
    );
    const { send, close } = world.delivery();
    await send();
    await standing(accountId, id, ({ disabledReason }) => disabledReason === 'failing');
    await world.makeDue(id);
    expect(await send()).toBe(0);
    await close();
  });

  it('is disabled when it answers that it is gone', async () => {
    const { accountId, id } = await failWith(410);
    const { send, close } = world.delivery();
    await send();
    await standing(accountId, id, ({ disabledReason }) => disabledReason === 'gone');
    await close();
  });

  describe('with another URL', () => {
    const origin = 'https://api.example.com';
    const failed = (isGone: boolean) => ({ kind: 'failed', pauseSeconds: 5, isGone }) as const;
    const claimOne = async (): Promise<ClaimedMessage> => {
      const [claimed] = await claimMessages(test.database, ROOM, 60);
      if (claimed === undefined) throw new Error('nothing was claimed');
      return claimed;
    };
    const moveTo = (accountId: string, id: string, url: string): Promise<WebhookEndpoint> =>
      world.endpoints.change(accountId, id, { origin, url });

    it('is as it was when an attempt to reach the old one ends', async () => {
      const { accountId, id } = await failWith(410);
      const old = await claimOne();
      await moveTo(accountId, id, 'http://127.0.0.1:2/');
      const recorded = await recordOutcome(test.database, old, { ...SENT, status: 410 }, failed(true));
      expect(recorded).toEqual({ disabled: null });
      expect(await world.endpoints.get(accountId, id)).toMatchObject({ disabledAt: null, failingSince: null });
      expect(await world.messages(id)).toMatchObject([{ state: 'pending', tries: 1 }]);
      await world.makeDue(id);
      await recordOutcome(test.database, await claimOne(), { ...SENT, status: 503 }, failed(false));
      const { failingSince } = await world.endpoints.get(accountId, id);
      expect(failingSince).not.toBeNull();
      expect(await recordOutcome(test.database, old, SENT, { kind: 'delivered' })).toBeNull();
    });

    it('has three days of its own before it is disabled', async () => {
      const { accountId, id, receiver } = await failWith(503);
      await test.database.execute(Prisma.sql`
        UPDATE webhook_endpoints SET failing_since = now() - interval '73 hours' WHERE id = ${id}::uuid`);
      expect((await moveTo(accountId, id, receiver.url)).failingSince).not.toBeNull();
      expect((await moveTo(accountId, id, 'http://127.0.0.1:2/')).failingSince).toBeNull();
      await recordOutcome(test.database, await claimOne(), { ...SENT, status: 503 }, failed(false));
      expect(await world.endpoints.get(accountId, id)).toMatchObject({ disabledAt: null });
    });
  });

  it('gets a few messages at once, and one at a time while it fails', async () => {
    const accountId = await world.account();
    const { endpoint } = await world.endpoint(accountId, 'http://127.0.0.1:1/');
    for (let at = 0; at < 6; at += 1) await world.endJob(accountId);
    expect(await claimMessages(test.database, ROOM, 60)).toHaveLength(ATTEMPTS_PER_ENDPOINT);
    await world.makeDue(endpoint.id);
    await test.database.execute(
      Prisma.sql`UPDATE webhook_endpoints SET failing_since = now() WHERE id = ${endpoint.id}::uuid`,
    );
    const oneUnderWay = { ...ROOM, endpoints: new Map([[endpoint.id, ATTEMPTS_PER_ENDPOINT - 1]]) };
    expect(await claimMessages(test.database, oneUnderWay, 60)).toEqual([]);
    expect(await claimMessages(test.database, ROOM, 60)).toHaveLength(1);
  });

  it('that answers nothing holds up no other', async () => {
    const silent = await open(() => undefined);
    const quick = await open();
    const [slowAccount, quickAccount] = [await world.account(), await world.account()];
    await world.endpoint(slowAccount, silent.url);
    const { endpoint } = await world.endpoint(quickAccount, quick.url);
    for (let at = 0; at < 20; at += 1) await world.endJob(slowAccount);
    for (let at = 0; at < 20; at += 1) await world.endJob(quickAccount);
    const { send, close } = world.delivery();
    await eventually('all messages of the quick one are delivered', async () => {
      await send();
      return (await world.messages(endpoint.id)).every(({ state }) => state === 'delivered');
    });
    expect(silent.received.length).toBeLessThanOrEqual(ATTEMPTS_PER_ENDPOINT);
    await silent.close();
    await close();
  });
});

describe('a claim', () => {
  const two = async (): Promise<string> => {
    const accountId = await world.account();
    const { endpoint } = await world.endpoint(accountId, 'http://127.0.0.1:1/');
    await world.endJob(accountId);
    return endpoint.id;
  };

  it('leaves each message to one of several processes', async () => {
    for (let at = 0; at < 8; at += 1) await two();
    const claims = await Promise.all(Array.from({ length: 4 }, () => claimMessages(test.database, ROOM, 60)));
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(8);
  });

  it('ends with its lease: the message is claimed again, and the first result counts for nothing', async () => {
    const endpointId = await two();
    const [first] = await claimMessages(test.database, ROOM, 60);
    if (first === undefined) throw new Error('nothing was claimed');
    expect(await claimMessages(test.database, ROOM, 60)).toEqual([]);
    await world.makeDue(endpointId);
    const [second] = await claimMessages(test.database, ROOM, 60);
    expect(second).toMatchObject({ id: first.id, attempt: 2 });
    const failed = { kind: 'failed', pauseSeconds: null, isGone: true } as const;
    expect(await recordOutcome(test.database, first, { ...SENT, status: 410 }, failed)).toBeNull();
    const delivered = await recordOutcome(test.database, second ?? first, SENT, { kind: 'delivered' });
    expect(delivered).toEqual({ disabled: null });
    expect(await world.messages(endpointId)).toMatchObject([{ state: 'delivered' }]);
    expect(await test.database.models.webhookAttempt.count({ where: { messageId: first.id } })).toBe(1);
  });

  it('goes on behind the endpoint that had its turn last', async () => {
    const endpoints = [await two(), await two(), await two()].sort();
    const claimed = await claimMessages(test.database, { ...ROOM, after: endpoints[0] ?? '' }, 60);
    expect(claimed.map(({ endpointId }) => endpointId).sort()).toEqual(endpoints.slice(1));
  });

  it('leaves out endpoints without room', async () => {
    const [full, free] = [await two(), await two()];
    const claimed = await claimMessages(test.database, { ...ROOM, endpoints: new Map([[full, 0]]) }, 60);
    expect(claimed.map(({ endpointId }) => endpointId)).toEqual([free]);
  });

  it('takes those of slow endpoints, or those of all others', async () => {
    const [slow, quick] = [await two(), await two()];
    const claimed = async (lane: ClaimRoom['lane']): Promise<string[]> =>
      (await claimMessages(test.database, { ...ROOM, lane, slow: [slow] }, 60)).map(({ endpointId }) => endpointId);
    expect(await claimed('slow')).toEqual([slow]);
    expect(await claimed('quick')).toEqual([quick]);
  });

  it('takes no more of an account than it has room for, the oldest first, and goes on to the next', async () => {
    const accountId = await world.account();
    for (let at = 0; at < 4; at += 1) await world.endpoint(accountId, 'http://127.0.0.1:1/');
    for (let at = 0; at < 3; at += 1) await world.endJob(accountId);
    const other = await two();
    await test.database.execute(Prisma.sql`
      UPDATE webhook_messages SET due_at = now() - interval '1 hour' WHERE id IN (SELECT max(m.id::text)::uuid FROM webhook_messages m
        JOIN webhook_endpoints e ON e.id = m.endpoint_id WHERE e.account_id = ${accountId}::uuid)`);
    const [{ id: oldest = '' } = {}] = await test.database.rows<{ id: string }>(
      Prisma.sql`SELECT id FROM webhook_messages ORDER BY due_at LIMIT 1`,
    );
    const claimed = await claimMessages(test.database, { ...ROOM, perAccount: 5 }, 60);
    const own = claimed.filter((message) => message.accountId === accountId);
    expect(own).toHaveLength(5);
    expect(own.map(({ id }) => id)).toContain(oldest);
    expect(claimed.map(({ endpointId }) => endpointId)).toContain(other);
    const more = await claimMessages(test.database, { ...ROOM, accounts: new Map([[accountId, 2]]) }, 60);
    expect(more).toHaveLength(2);
  });

  it('reads the lanes alone, however long the log is', async () => {
    const endpointId = await two();
    await test.database.execute(Prisma.sql`
      INSERT INTO webhook_messages (endpoint_id, type, job_id, state, ended_at)
      SELECT ${endpointId}::uuid, 'job.succeeded', gen_random_uuid(), 'delivered', now() FROM generate_series(1, 20000)`);
    await test.database.execute(Prisma.sql`ANALYZE webhook_messages`);
    const [row] = await test.database.query<{ 'QUERY PLAN': unknown }>(
      Prisma.sql`EXPLAIN (FORMAT JSON) ${claimSql(ROOM, 60)}`,
    );
    const plan = JSON.stringify(row);
    expect(plan).not.toContain(
      '"Seq Scan","Parent Relationship":"Outer","Parallel Aware":false,"Async Capable":false,"Relation Name":"webhook_messages"',
    );
    expect(plan).toContain('webhook_messages_lane_idx');
    expect(plan).not.toMatch(/"Seq Scan"[^}]*"Relation Name":"webhook_messages"/);
  });
});

it('what is old, and what is left of deleted endpoints, is swept', async () => {
  const accountId = await world.account();
  const { endpoint } = await world.endpoint(accountId, 'http://127.0.0.1:1/');
  const { endpoint: deleted } = await world.endpoint(accountId, 'http://127.0.0.1:1/');
  await world.endJob(accountId);
  await test.database.execute(Prisma.sql`
    UPDATE webhook_messages SET created_at = now() - interval '15 days' WHERE endpoint_id = ${endpoint.id}::uuid`);
  const kept = await world.endJob(accountId);
  await world.endpoints.delete(accountId, deleted.id);
  await test.database.execute(Prisma.sql`
    UPDATE webhook_endpoints SET deleted_at = now() - interval '2 hours' WHERE id = ${deleted.id}::uuid`);
  const { sweep, close } = world.delivery();
  await sweep();
  expect(await world.messages(endpoint.id)).toMatchObject([{ jobId: kept }]);
  expect(await test.database.models.webhookEndpoint.findMany({ where: { accountId } })).toMatchObject([
    { id: endpoint.id },
  ]);
  await close();
});

describe('a secret', () => {
  const ring = (text: string): KeyRing => {
    const read = KeyRing.parse(text);
    if (typeof read === 'string') throw new Error(read);
    return read;
  };
  const former = Buffer.alloc(32, 7).toString('base64');
  const next = Buffer.alloc(32, 9).toString('base64');

  it('is sealed again with a new key of the ring, so that the former one can be removed', async () => {
    const accountId = await world.account();
    const receiver = await open();
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    const both = world.delivery(undefined, ring(`${next},${former}`));
    await both.reseal();
    await both.close();
    await world.endJob(accountId);
    const { send, close } = world.delivery(undefined, ring(next));
    await send();
    await inState(endpoint.id, 'delivered');
    await close();
  });

  it('that cannot be opened leaves the messages of its endpoint unsent, and no others', async () => {
    const [accountId, otherId] = [await world.account(), await world.account()];
    const [receiver, other] = [await open(), await open()];
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    const { endpoint: healthy } = await world.endpoint(otherId, other.url);
    await test.database.execute(Prisma.sql`
      UPDATE webhook_secrets SET sealed = 'mr2.gone.'::bytea WHERE endpoint_id = ${endpoint.id}::uuid`);
    await world.endJob(accountId);
    await world.endJob(otherId);
    const { send, close } = world.delivery();
    await send();
    await inState(healthy.id, 'delivered');
    await standing(accountId, endpoint.id, ({ failingSince }) => failingSince !== null);
    expect(receiver.received).toEqual([]);
    await close();
  });
});
