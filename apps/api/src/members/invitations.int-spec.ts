import { Prisma } from '@prisma/client';
import { Database } from '@millrace/database';
import { eventually, type Answer } from '@millrace/testing';
import { tokenIn, waitingMails } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const INVITATIONS = '/platform/v1/invitations';
const PER_DAY = 12;

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  // No process of this test sends mail.
  api = await RunningApi.open({ MILLRACE_MAIL_FOLDER: '/nonexistent', MILLRACE_INVITATIONS_PER_DAY: String(PER_DAY) });
});
beforeEach(async () => {
  account = await api.account();
});
afterAll(() => api.close());

let people = 0;
const newAddress = (): string => `invited-${(people += 1)}@example.com`;
const invite = (email: string, by = account) =>
  api.client(by.key).call<{ id: string }>('POST', INVITATIONS, { json: { email, role: 'viewer' } });
const accept = (invitation: string) => api.client(null).call('POST', '/platform/v1/sessions', { json: { invitation } });
const tokenFor = async (email: string): Promise<string> =>
  tokenIn((await waitingMails(api)).findLast(({ to }) => to === email));
/** As if all that was sent had been sent so much earlier. */
const pass = (seconds: number) =>
  api.test.database.execute(
    Prisma.sql`UPDATE invitation_mails SET sent_at = sent_at - make_interval(secs => ${seconds})`,
  );
const waitIn = ({ headers }: Answer<unknown>): number => Number(headers['retry-after']);

describe('invitations of an account', () => {
  it('go to an address five minutes apart, also when one was taken back, and ten times a day', async () => {
    const email = newAddress();
    const first = await invite(email);
    expect(first.status).toBe(201);
    const again = await invite(email.toUpperCase());
    expect(again).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(waitIn(again)).toBeGreaterThan(240);
    expect(waitIn(again)).toBeLessThanOrEqual(300);
    const path = `${INVITATIONS}/${first.body.id}`;
    expect((await api.client(account.key).call('DELETE', path)).status).toBe(204);
    expect((await invite(email)).status).toBe(429);
    // What is refused changes nothing, and neither counts for others.
    expect((await invite(newAddress())).status).toBe(201);
    expect((await invite(email, await api.account())).status).toBe(201);
    for (let sent = 1; sent < 10; sent += 1) {
      await pass(301);
      expect((await invite(email)).status).toBe(201);
    }
    await pass(301);
    const tenth = await invite(email);
    expect(tenth.status).toBe(429);
    expect(waitIn(tenth)).toBeGreaterThan(80_000);
    await pass(86_400);
    expect((await invite(email)).status).toBe(201);
  });

  it('are as many in a day as the service allows, those that were taken back and accepted among them', async () => {
    for (let sent = 0; sent < PER_DAY; sent += 1) {
      const email = newAddress();
      const { body } = await invite(email);
      if (sent === 0) expect((await accept(await tokenFor(email))).status).toBe(201);
      else if (sent % 2 === 0) await api.client(account.key).call('DELETE', `${INVITATIONS}/${body.id}`);
    }
    await pass(3_600);
    const refused = await invite(newAddress());
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining(`${PER_DAY} invitations in a day`)]);
    expect(waitIn(refused)).toBeGreaterThan(82_000);
    expect(waitIn(refused)).toBeLessThanOrEqual(82_800);
    expect((await invite(newAddress(), await api.account())).status).toBe(201);
    await pass(82_801);
    expect((await invite(newAddress())).status).toBe(201);
  });

  it('say to whom they went nowhere in the database but in the open ones', async () => {
    const email = newAddress();
    await invite(email);
    const stored = await api.test.database.models.invitationMail.findMany({ where: { accountId: account.id } });
    expect(stored).toHaveLength(1);
    expect(Buffer.from(stored[0]?.addressHash ?? []).toString('latin1')).not.toContain('invited');
  });
});

it('who accepts while the same address is invited again waits, and neither fails', async () => {
  const email = newAddress();
  await invite(email);
  const token = await tokenFor(email);
  const { databaseUrl, ...pool } = { databaseUrl: api.test.url, databasePoolSize: 2, databaseTimeoutMs: 30_000 };
  const database = new Database({ databaseUrl, ...pool }, 'who-invites');
  let accepted: Promise<Answer<unknown>> | undefined;
  let start: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (start = resolve));
  const waiting = held.then(async () => {
    accepted = accept(token);
    await eventually('it to wait for the account', async () => {
      const rows = await database.rows(Prisma.sql`
        SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE NOT l.granted AND a.datname = current_database() AND a.application_name = 'millrace-api'`);
      return rows.length > 0;
    });
  });
  // As who invites does: first the account, then the invitation.
  await database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SELECT 1 FROM accounts WHERE id = ${account.id}::uuid FOR UPDATE`);
    start();
    await waiting;
    await tx.execute(Prisma.sql`UPDATE invitations SET created_at = now() WHERE account_id = ${account.id}::uuid`);
  });
  expect((await accepted)?.status).toBe(201);
  await database.close();
});
