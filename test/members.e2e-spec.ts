import { ApiClient, SmtpSink, TestStack, eventually, type TestAccount } from '@millrace/testing';

const ADA = 'ada@example.com';
const SESSIONS = '/platform/v1/sessions';

let sink: SmtpSink;
let stack: TestStack;
let account: TestAccount;
let visitor: ApiClient;
beforeAll(async () => {
  sink = await SmtpSink.open();
  const settings = {
    MILLRACE_MAIL_SMTP_URL: sink.url,
    MILLRACE_MAIL_FROM: 'Millrace <no-reply@mail.test>',
    MILLRACE_PUBLIC_URL: 'https://api.test',
  };
  stack = await TestStack.start({ workers: 0, settings });
  account = await stack.createAccount();
  visitor = new ApiClient(stack.publicUrl, null);
});
afterAll(async () => {
  const broken = stack.api.lines.filter((line) => line.includes('request failed'));
  await stack.stop();
  await sink.close();
  expect(broken).toEqual([]);
});

/** The link in the latest mail to somebody, once there are so many: as a mail program shows it. */
const linkIn = (to: string, count: number): Promise<URL> =>
  eventually(`mail ${count} to ${to}`, async () => {
    const mails = sink.mails.filter((mail) => mail.to.includes(to));
    // Quoted-printable folds long lines (RFC 2045, 6.7).
    const text = mails[count - 1]?.text.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '';
    const [url] = /https?:\S+#\S+/.exec(text) ?? [];
    return url === undefined ? null : new URL(url);
  });
const enter = (json: object, cookie = '') =>
  visitor.call<{ member: { email: string; role: string } }>('POST', SESSIONS, { json, headers: { Cookie: cookie } });
const cookieOf = (setCookie: string | undefined): string => (setCookie ?? '').split(';')[0] ?? '';
const tokenOf = ({ hash }: URL): string => hash.slice(hash.indexOf('=') + 1);
const as = <T>(cookie: string, method: string, path: string, json?: object) =>
  visitor.call<T>(method, path, { headers: { Cookie: cookie, 'Millrace-Console': '1' }, ...(json && { json }) });

it('somebody is invited by mail, works, signs in again by mail, and is removed with all that is theirs', async () => {
  const owner = new ApiClient(stack.publicUrl, account.apiKey);
  const invited = await owner.call('POST', '/platform/v1/invitations', { json: { email: ADA, role: 'developer' } });
  expect(invited.status).toBe(201);
  const invitation = await linkIn(ADA, 1);
  expect(invitation.href).toMatch(/^https:\/\/api\.test\/console\/#invitation=/);
  const joined = await enter({ invitation: tokenOf(invitation) });
  expect(joined).toMatchObject({ status: 201, body: { member: { email: ADA, role: 'developer' } } });
  expect((await enter({ invitation: tokenOf(invitation) })).status).toBe(401);

  const first = cookieOf(joined.headers['set-cookie']);
  const made = await as<{ key: string }>(first, 'POST', '/platform/v1/api-keys', { name: 'of ada' });
  const byKey = new ApiClient(stack.publicUrl, made.body.key);
  expect((await byKey.call('GET', '/api/v2/jobs')).status).toBe(200);
  expect(
    (await as(first, 'POST', '/platform/v1/invitations', { email: 'bob@example.com', role: 'owner' })).status,
  ).toBe(403);

  const asked = await visitor.call('POST', `${SESSIONS}/mails`, { json: { email: ADA } });
  expect(asked.status).toBe(202);
  const link = tokenOf(await linkIn(ADA, 2));
  expect((await enter({ link })).status).toBe(401);
  const entered = await enter({ link }, cookieOf(asked.headers['set-cookie']));
  expect(entered.status).toBe(201);
  const second = cookieOf(entered.headers['set-cookie']);
  expect((await as<{ sessions: object[] }>(second, 'GET', SESSIONS)).body.sessions).toHaveLength(2);

  const { body } = await owner.call<{ members: { id: string }[] }>('GET', '/platform/v1/members');
  expect((await owner.call('DELETE', `/platform/v1/members/${body.members[0]?.id}`)).status).toBe(204);
  for (const cookie of [first, second]) expect((await as(cookie, 'GET', SESSIONS)).status).toBe(401);
  expect((await byKey.call('GET', '/api/v2/jobs')).status).toBe(401);
  expect((await owner.call('GET', '/api/v2/jobs')).status).toBe(200);
});

it('an invitation outlives a maintenance process, and a mail server that is busy', async () => {
  const owner = new ApiClient(stack.publicUrl, account.apiKey);
  await stack.maintenance.end();
  sink.refuses = { of: 'RCPT TO', code: 451 };
  const json = { email: 'grace@example.com', role: 'owner' };
  expect((await owner.call('POST', '/platform/v1/invitations', { json })).status).toBe(201);
  stack.maintenance = await stack.spawn('maintenance');
  const { mailMessage: mails } = stack.test.database.models;
  await eventually(
    'a try that fails',
    async () => (await mails.findFirst({ where: { attempts: { gt: 0 } } })) !== null,
  );
  sink.refuses = null;
  await eventually('the mail', async () => {
    await mails.updateMany({ data: { dueAt: new Date(0) } });
    return sink.mails.some(({ to }) => to.includes(json.email));
  });
  const joined = await enter({ invitation: tokenOf(await linkIn(json.email, 1)) });
  expect(joined).toMatchObject({ status: 201, body: { member: { role: 'owner' } } });
});

it('owners and finance members get a mail for each level of a cap once, and nobody else does', async () => {
  const spending = await stack.createAccount();
  const owner = new ApiClient(stack.publicUrl, spending.apiKey);
  const people = { owner: 'pays@example.com', finance: 'books@example.com', viewer: 'looks@example.com' };
  for (const [role, email] of Object.entries(people)) {
    expect((await owner.call('POST', '/platform/v1/invitations', { json: { email, role } })).status).toBe(201);
    expect((await enter({ invitation: tokenOf(await linkIn(email, 1)) })).status).toBe(201);
  }
  const cap = { scope: 'account', daily_micros: 10_000_000 };
  expect((await owner.call('PUT', '/platform/v1/spend/caps', { json: cap })).status).toBe(200);
  const whole = { accountId_label_value: { accountId: spending.id, label: '@account', value: '' } };
  const use = (heldMicros: bigint) =>
    stack.test.database.models.labelUse.upsert({
      where: whole,
      create: { accountId: spending.id, label: '@account', value: '', heldMicros },
      update: { heldMicros },
    });
  const warningsTo = (email: string): string[] =>
    sink.mails
      .filter(({ to, text }) => to.includes(email) && text.includes('spend cap'))
      .map(
        ({ text }) =>
          /(\d+) percent of the daily cap of the account, 10 credits/.exec(text.replaceAll('=\r\n', ''))?.[1] ?? text,
      );
  const levels: string[] = [];
  const balances = stack.test.database.models.balance;
  for (const [held, level] of [
    [5_000_000n, '50'],
    [8_500_000n, '80'],
    [10_000_000n, '100'],
  ] as const) {
    // As if the mail before had been sent long ago: one in ten minutes is the most.
    await balances.updateMany({ data: { spendMailAt: new Date(0) }, where: { accountId: spending.id } });
    await use(held);
    // Less, and as much again: it was said already.
    await use(1n);
    await use(held);
    levels.push(level);
    await eventually(`the mail of ${level} percent`, async () => warningsTo(people.finance).length === levels.length);
    await eventually('the mail of the owner', async () => warningsTo(people.owner).length === levels.length);
  }
  await eventually('all to be sent', async () => (await stack.test.database.models.mailMessage.count()) === 0);
  expect(warningsTo(people.finance)).toEqual(levels);
  expect(warningsTo(people.owner)).toEqual(levels);
  expect(warningsTo(people.viewer)).toEqual([]);
});
