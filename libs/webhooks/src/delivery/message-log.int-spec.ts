import { Prisma } from '@prisma/client';
import { Webhook } from 'standardwebhooks';
import { newId } from '@millrace/contracts';
import { AddressGuard } from '@millrace/platform';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import { EndpointSecrets, EndpointStore, WebhookEndpoints } from '../endpoints';
import { TestReceiver } from '../fixtures/receiver';
import { WebhookWorld } from '../fixtures/webhook-world';
import { WebhookMessages } from '../messages/message-log.service';
import { MessageLogStore } from '../messages/message-log.store';
import { oldestUntriedSeconds } from '../messages/oldest-message.store';

let test: TestDatabase;
let world: WebhookWorld;
let receiver: TestReceiver;
let accountId: string;
let delivery: ReturnType<WebhookWorld['delivery']>;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new WebhookWorld(test);
});
beforeEach(async () => {
  receiver = await TestReceiver.open();
  accountId = await world.account();
  delivery = world.delivery();
});
afterEach(async () => {
  await delivery.close();
  await receiver.close();
});
afterAll(() => test.drop());

const stateIs = (endpointId: string, state: string): Promise<unknown> =>
  eventually(`all messages are ${state}`, async () => {
    await delivery.send();
    return (await world.messages(endpointId)).every((message) => message.state === state);
  });
const list = (endpointId: string, filter: { limit?: number; cursor?: string | null } = {}) =>
  world.log.list(accountId, endpointId, { limit: 10, cursor: null, state: null, ...filter });
const failAll = (endpointId: string): Promise<unknown> =>
  test.database.execute(Prisma.sql`
    UPDATE webhook_messages SET state = 'failed', ended_at = now() WHERE endpoint_id = ${endpointId}::uuid`);
/** How many statements wait for a lock. */
const waitForLocks = async (): Promise<number> => {
  const [row] = await test.database.rows<{ waits: number }>(Prisma.sql`
    SELECT count(*)::int AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
  return row?.waits ?? 0;
};

describe('the log of an endpoint', () => {
  it('has its messages in pages, newest first, with their attempts and answers', async () => {
    receiver.answer = (response) => response.writeHead(200).end('thanks');
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    const jobs = [await world.endJob(accountId), await world.endJob(accountId), await world.endJob(accountId)];
    await stateIs(endpoint.id, 'delivered');
    const first = await list(endpoint.id, { limit: 2 });
    expect(first.items.map(({ jobId }) => jobId)).toEqual([jobs[2], jobs[1]]);
    expect(first.items[0]).toMatchObject({
      state: 'delivered',
      dueAt: null,
      attempts: [{ attempt: 1, status: 200, error: null, answer: 'thanks' }],
    });
    const second = await list(endpoint.id, { limit: 2, cursor: first.nextCursor ?? null });
    expect(second.items.map(({ jobId }) => jobId)).toEqual([jobs[0]]);
    expect(second.nextCursor).toBeUndefined();
  });

  it("is its owner's alone", async () => {
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    const other = await world.account();
    const filter = { limit: 10, cursor: null, state: null };
    await expect(world.log.list(other, endpoint.id, filter)).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.log.test(other, endpoint.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.log.replay(other, endpoint.id, newId())).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.endpoints.rotateSecret(other, endpoint.id, 0)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a replay', () => {
  it('sends a message again under its id, with another attempt in the log', async () => {
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    await world.endJob(accountId);
    await stateIs(endpoint.id, 'delivered');
    const [{ id } = { id: '' }] = await world.messages(endpoint.id);
    expect(await world.log.replay(accountId, endpoint.id, id)).toMatchObject({ state: 'pending', endedAt: null });
    await stateIs(endpoint.id, 'delivered');
    expect(receiver.ids).toEqual([id, id]);
    expect((await list(endpoint.id)).items[0]?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('leaves a message alone that is being sent', async () => {
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    await world.endJob(accountId);
    await test.database.execute(Prisma.sql`
      UPDATE webhook_messages SET attempt = 3, tries = 3, due_at = now() + interval '1 hour'
      WHERE endpoint_id = ${endpoint.id}::uuid`);
    const [{ id } = { id: '' }] = await world.messages(endpoint.id);
    await world.log.replay(accountId, endpoint.id, id);
    expect(await world.messages(endpoint.id)).toMatchObject([{ tries: 3, state: 'pending' }]);
  });

  it('of a span sends what was given up in it, and the others on request', async () => {
    const { endpoint } = await world.endpoint(accountId, receiver.url);
    await world.endJob(accountId);
    await world.endJob(accountId);
    await failAll(endpoint.id);
    const delivered = await world.endJob(accountId);
    await eventually('the last one is delivered', async () => {
      await delivery.send();
      return (await world.messages(endpoint.id)).find(({ jobId }) => jobId === delivered)?.state === 'delivered';
    });
    const hourAgo = new Date(Date.now() - 3_600_000);
    const past = { since: new Date(0), until: hourAgo, states: ['failed', 'delivered'] } as const;
    expect(await world.log.replaySpan(accountId, endpoint.id, past)).toEqual({ replayed: 0, more: false });
    const until = new Date(Date.now() + 3_600_000);
    const failed = await world.log.replaySpan(accountId, endpoint.id, { since: hourAgo, until, states: ['failed'] });
    expect(failed).toEqual({ replayed: 2, more: false });
    await stateIs(endpoint.id, 'delivered');
    const all = { since: hourAgo, states: ['failed', 'delivered'] } as const;
    expect(await world.log.replaySpan(accountId, endpoint.id, all)).toEqual({ replayed: 3, more: false });
    await stateIs(endpoint.id, 'delivered');
    const { items } = await world.log.list(accountId, endpoint.id, { cursor: null, limit: 1, state: null });
    const since = items[0]?.createdAt ?? new Date(0);
    const last = { since, states: ['delivered'] } as const;
    expect((await world.log.replaySpan(accountId, endpoint.id, { ...last, until: since })).replayed).toBe(0);
    expect((await world.log.replaySpan(accountId, endpoint.id, last)).replayed).toBe(1);
    await stateIs(endpoint.id, 'delivered');
    expect(receiver.received).toHaveLength(7);
  });

  describe('of a span that is longer than one request', () => {
    const span = { since: new Date(0), states: ['failed', 'delivered'] } as const;
    const two = (): WebhookMessages => new WebhookMessages(test.database, world.endpoints, new MessageLogStore(), 2);
    const deliverThree = async (): Promise<string> => {
      const { endpoint } = await world.endpoint(accountId, receiver.url);
      for (let at = 0; at < 3; at += 1) await world.endJob(accountId);
      await stateIs(endpoint.id, 'delivered');
      return endpoint.id;
    };

    it('goes on behind the last message that it looked at', async () => {
      const id = await deliverThree();
      const first = await two().replaySpan(accountId, id, span);
      expect(first).toEqual({ replayed: 2, more: true, nextCursor: expect.any(String) as string });
      await stateIs(id, 'delivered');
      const { nextCursor: cursor = null } = first;
      expect(await two().replaySpan(accountId, id, { ...span, cursor })).toEqual({ replayed: 1, more: false });
      await stateIs(id, 'delivered');
      expect(receiver.received).toHaveLength(6);
    });

    it('does not end where another process has replayed the same messages', async () => {
      const id = await deliverThree();
      let hold = (): void => undefined;
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (hold = resolve));
      const released = new Promise<void>((resolve) => (release = resolve));
      const holding = test.database.transaction(async (tx) => {
        await tx.execute(Prisma.sql`
          UPDATE webhook_messages SET state = 'pending', ended_at = NULL WHERE id IN (
            SELECT id FROM webhook_messages WHERE endpoint_id = ${id}::uuid ORDER BY id LIMIT 2)`);
        hold();
        await released;
      });
      await held;
      const late = two().replaySpan(accountId, id, span);
      await eventually('it waits for the other', async () => (await waitForLocks()) === 1);
      release();
      await holding;
      expect(await late).toMatchObject({ replayed: 0, more: true });
    });

    it('refuses a cursor of another list', async () => {
      const id = await deliverThree();
      const refused = two().replaySpan(accountId, id, { ...span, cursor: 'x' });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_cursor' });
    });
  });
});

it('a test is sent as every message is, and not to a disabled endpoint', async () => {
  const { endpoint, secret } = await world.endpoint(accountId, receiver.url);
  const { id } = await world.log.test(accountId, endpoint.id);
  await stateIs(endpoint.id, 'delivered');
  const [message] = receiver.received;
  expect(new Webhook(secret).verify(message?.body ?? '', message?.headers as Record<string, string>)).toMatchObject({
    id,
    type: 'webhook.test',
    data: { endpoint_id: endpoint.id },
  });
  await world.endpoints.change(accountId, endpoint.id, { origin: 'https://api.example.com', enabled: false });
  await expect(world.log.test(accountId, endpoint.id)).rejects.toMatchObject({ code: 'invalid_request' });
});

it('messages are signed with the new secret, and with the old ones while they overlap', async () => {
  const { endpoint, secret: first } = await world.endpoint(accountId, receiver.url);
  const verifies = async (): Promise<(secret: string) => boolean> => {
    await world.log.test(accountId, endpoint.id);
    await stateIs(endpoint.id, 'delivered');
    const { body = '', headers = {} } = receiver.received.at(-1) ?? {};
    return (secret) => {
      try {
        return Boolean(new Webhook(secret).verify(body, headers as Record<string, string>));
      } catch {
        return false;
      }
    };
  };
  const { secret: second } = await world.endpoints.rotateSecret(accountId, endpoint.id, 3_600);
  expect([first, second].map(await verifies())).toEqual([true, true]);
  const { secret: third } = await world.endpoints.rotateSecret(accountId, endpoint.id, 0);
  expect([second, third].map(await verifies())).toEqual([false, true]);
  for (let at = 0; at < 6; at += 1) await world.endpoints.rotateSecret(accountId, endpoint.id, 3_600);
  await verifies();
  expect(String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(4);
});

it('of several rotations at once the secrets of all but the last expire', async () => {
  const { endpoint } = await world.endpoint(accountId, receiver.url);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let expired = 0;
  class HeldStore extends EndpointStore {
    override async expireSecrets(...args: Parameters<EndpointStore['expireSecrets']>): Promise<void> {
      await super.expireSecrets(...args);
      expired += 1;
      await released;
    }
  }
  const guard = new AddressGuard(world.settings.webhookAllowedNetworks);
  const secrets = new EndpointSecrets(world.key);
  const held = new WebhookEndpoints(test.database, new HeldStore(), secrets, guard, world.settings);
  const rotations = [1, 2].map(() => held.rotateSecret(accountId, endpoint.id, 3_600));
  await eventually('one waits, or neither does', async () => expired === 2 || (await waitForLocks()) === 1);
  release();
  await Promise.all(rotations);
  const stays = { endpointId: endpoint.id, expiresAt: null };
  expect(await test.database.models.webhookSecret.count({ where: stays })).toBe(1);
});

it('what is late is measured, without endpoints that fail', async () => {
  const { endpoint } = await world.endpoint(accountId, receiver.url);
  await world.endJob(accountId);
  await test.database.execute(Prisma.sql`
    UPDATE webhook_messages SET due_at = now() - interval '1 hour' WHERE endpoint_id = ${endpoint.id}::uuid`);
  expect(await oldestUntriedSeconds(test.database)).toBeGreaterThanOrEqual(3_600);
  await test.database.execute(
    Prisma.sql`UPDATE webhook_endpoints SET failing_since = now() WHERE id = ${endpoint.id}::uuid`,
  );
  expect(await oldestUntriedSeconds(test.database)).toBe(0);
});
