import { Prisma } from '@prisma/client';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import type { WebhookEndpoint } from '../endpoints';
import { TestReceiver } from '../fixtures/receiver';
import { WebhookWorld } from '../fixtures/webhook-world';

/** More than three days, after which an endpoint is disabled. */
const TOO_LONG = Prisma.sql`interval '73 hours'`;
const DISABLED = 'webhook.disabled';

let test: TestDatabase;
let world: WebhookWorld;
const receivers: TestReceiver[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  world = new WebhookWorld(test);
});
beforeEach(() => world.mails.splice(0));
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await test.drop();
});

/** A receiver that answers so. */
async function receiver(status: number): Promise<string> {
  const opened = await TestReceiver.open((response) => response.writeHead(status).end());
  receivers.push(opened);
  return `${opened.url}hooks/a-secret?token=b`;
}
const endpoint = async (accountId: string, status: number, events: string[]): Promise<WebhookEndpoint> =>
  (await world.endpoint(accountId, await receiver(status), events)).endpoint;
/** It has failed for too long, and one of its messages waits for its next attempt. */
const failing = (id: string): Promise<unknown> =>
  test.database.execute(Prisma.sql`
    WITH message AS (
      INSERT INTO webhook_messages (endpoint_id, type, attempt, tries, due_at)
      VALUES (${id}::uuid, 'webhook.test', 9, 9, now() + interval '1 hour')
    )
    UPDATE webhook_endpoints SET failing_since = now() - ${TOO_LONG} WHERE id = ${id}::uuid`);
const noticesOf = async ({ id }: WebhookEndpoint): Promise<unknown[]> => {
  const rows = await test.database.rows<{ type: string; data: unknown }>(Prisma.sql`
    SELECT type, data FROM webhook_messages WHERE endpoint_id = ${id}::uuid AND type = ${DISABLED} ORDER BY id`);
  return rows.map(({ data }) => data);
};
/** A job of the account ends, and what is due is sent. */
async function send(accountId: string, sick: WebhookEndpoint, isDisabled: boolean): Promise<void> {
  await world.endJob(accountId);
  const { send: sendDue, close } = world.delivery();
  await sendDue();
  await eventually('the attempt is recorded', async () => {
    const { disabledAt, failingSince } = await world.endpoints.get(accountId, sick.id);
    return isDisabled ? disabledAt !== null : failingSince !== null;
  });
  await close();
}

describe('an endpoint that is disabled', () => {
  it('is made known to the other endpoints of its account that want to know, and to those who look after it', async () => {
    const [accountId, otherId] = [await world.account(), await world.account()];
    const sick = await endpoint(accountId, 500, ['job.succeeded', DISABLED]);
    const informed = await endpoint(accountId, 204, [DISABLED]);
    const silent = await endpoint(accountId, 204, ['job.failed']);
    const foreign = await endpoint(otherId, 204, [DISABLED]);
    await failing(sick.id);
    await send(accountId, sick, true);
    const { host } = new URL(sick.url);
    expect(await noticesOf(informed)).toEqual([
      {
        ...{ id: sick.id, host, description: '', reason: 'failing' },
        failing_since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
      },
    ]);
    for (const one of [sick, silent, foreign]) expect(await noticesOf(one)).toEqual([]);
    expect(world.mails).toMatchObject([{ accountId, subject: 'A webhook endpoint was disabled' }]);
    const text = world.mails[0]?.lines.join('\n') ?? '';
    expect(text).toContain(`${sick.id} at ${host} gets no more messages. No message reached it since `);
    expect(text).not.toContain('a-secret');
  });

  it('by one of several attempts at a time is reported once', async () => {
    const accountId = await world.account();
    const gone = await endpoint(accountId, 410, ['job.succeeded']);
    const informed = await endpoint(accountId, 204, [DISABLED]);
    for (let nth = 0; nth < 8; nth += 1) await world.endJob(accountId);
    await send(accountId, gone, true);
    const tried = (await world.messages(gone.id)).filter(({ tries }) => tries > 0);
    expect(tried.length).toBeGreaterThan(1);
    expect([(await noticesOf(informed)).length, world.mails.length]).toEqual([1, 1]);
  });

  it.each(['HTTP://127.0.0.1:1/a-secret', ' http://127.0.0.1:1\\a-secret', 'http:127.0.0.1:1/a-secret'])(
    'is named by its host, however its URL was written: %j',
    async (written) => {
      const accountId = await world.account();
      const { endpoint: gone } = await world.endpoint(accountId, written);
      expect(gone.url).toBe('http://127.0.0.1:1/a-secret');
      // As it was stored before URLs were brought into one form.
      await test.database.execute(
        Prisma.sql`UPDATE webhook_endpoints SET url = ${written} WHERE id = ${gone.id}::uuid`,
      );
      const informed = await endpoint(accountId, 204, [DISABLED]);
      await failing(gone.id);
      await send(accountId, gone, true);
      expect(await noticesOf(informed)).toMatchObject([{ id: gone.id, host: '127.0.0.1:1' }]);
    },
  );

  it('because it is gone, says so', async () => {
    const accountId = await world.account();
    const gone = await endpoint(accountId, 410, ['job.succeeded']);
    const informed = await endpoint(accountId, 204, [DISABLED]);
    await send(accountId, gone, true);
    expect(await noticesOf(informed)).toMatchObject([{ id: gone.id, reason: 'gone' }]);
    expect(world.mails[0]?.lines[0]).toContain('It answered 410');
  });

  it('was not disabled before: one that fails, or that its owner disables, is no news', async () => {
    const accountId = await world.account();
    const sick = await endpoint(accountId, 500, ['job.succeeded']);
    const informed = await endpoint(accountId, 204, [DISABLED]);
    await send(accountId, sick, false);
    const change = { origin: 'https://api.example.com', enabled: false };
    await world.endpoints.change(accountId, sick.id, change);
    expect([await noticesOf(informed), world.mails]).toEqual([[], []]);
  });

  it('stays as it was when the mail is not recorded, and the attempt is made again', async () => {
    const accountId = await world.account();
    const gone = await endpoint(accountId, 410, ['job.succeeded']);
    const informed = await endpoint(accountId, 204, [DISABLED]);
    world.mailing = () => Promise.reject(new Error('the process dies here'));
    await world.endJob(accountId);
    const { send: sendDue, close } = world.delivery();
    await sendDue();
    await close();
    expect(await world.endpoints.get(accountId, gone.id)).toMatchObject({ disabledAt: null });
    expect([await noticesOf(informed), (await world.messages(gone.id)).map(({ state }) => state)]).toEqual([
      [],
      ['pending'],
    ]);
    world.mailing = () => Promise.resolve();
    await world.makeDue(gone.id);
    await send(accountId, gone, true);
    expect([(await noticesOf(informed)).length, world.mails.length]).toEqual([1, 1]);
  });
});
