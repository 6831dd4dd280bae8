import type { MemberRole } from '@millrace/contracts';
import type { Answer } from '@millrace/testing';
import { SignedInBrowser } from '../fixtures/browser';
import { join as joinAs, sendSignInMails, tokenIn, waitingMails } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const SESSIONS = '/platform/v1/sessions';
const MEMBERS = '/platform/v1/members';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000000',
    MILLRACE_TRUSTED_PROXIES: '1',
    MILLRACE_PUBLIC_URL: 'https://api.test',
    // No process of this test sends mail.
    MILLRACE_MAIL_FOLDER: '/nonexistent',
  });
});
beforeEach(async () => {
  account = await api.account();
});
afterAll(() => api.close());

let people = 0;
const newAddress = (): string => `person-${(people += 1)}@example.com`;
const join = async (role: MemberRole) => {
  const member = await joinAs(api, account, role, newAddress());
  await api.test.database.models.mailMessage.deleteMany();
  return member;
};
const ask = (email: string, headers: Record<string, string> = {}) =>
  api.client(null).call('POST', `${SESSIONS}/mails`, { json: { email }, headers });
const exchange = (json: object, headers: Record<string, string> = {}) =>
  api.client(null).call<{ member: { id: string } }>('POST', SESSIONS, { json, headers });
const cookieIn = ({ headers }: Answer<unknown>): string =>
  /millrace_sign_in=([^;]*)/.exec(headers['set-cookie'] ?? '')?.[1] ?? '';
const browser = (answer: Answer<unknown>) => ({ Cookie: `millrace_sign_in=${cookieIn(answer)}` });
let network = 0;
/** Each from a network of its own: those are limited, too. */
const elsewhere = () => ({ 'X-Forwarded-For': `198.18.${Math.floor((network += 1) / 250)}.${network % 250}` });
/** The link in the latest mail, once what was asked for is carried out. */
const sentLink = async (): Promise<string> => {
  await sendSignInMails(api);
  return tokenIn((await waitingMails(api)).at(-1));
};

describe('signing in by mail', () => {
  it('lets a member in by a link that counts once, for a quarter of an hour, in the browser that asked', async () => {
    const ada = await join('viewer');
    const asked = await ask(ada.email.toUpperCase(), elsewhere());
    expect(asked).toMatchObject({ status: 202, text: '' });
    expect(asked.headers['set-cookie']).toMatch(
      /HttpOnly; SameSite=Strict; Path=\/platform\/v1\/sessions; Max-Age=900/,
    );
    const link = await sentLink();
    expect((await waitingMails(api))[0]?.text).toContain(`https://api.test/console/#link=${link}`);
    const other = await ask(newAddress(), elsewhere());
    expect((await exchange({ link })).status).toBe(401);
    expect((await exchange({ link }, browser(other))).status).toBe(401);
    const look = (headers: Record<string, string>) =>
      api.client(null).call('POST', `${SESSIONS}/offers`, { json: { link }, headers });
    expect((await look(browser(other))).status).toBe(401);
    expect(await look(browser(asked))).toMatchObject({
      status: 200,
      body: { account: { id: account.id }, member: { email: ada.email, role: 'viewer' }, asked_here: true },
    });
    const entered = await exchange({ link }, browser(asked));
    expect(entered).toMatchObject({ status: 201, body: { member: { id: ada.id, role: 'viewer' } } });
    expect((await exchange({ link }, browser(asked))).status).toBe(401);
  });

  it('answers and does the same where there is nobody of this address: nothing is looked up before the answer', async () => {
    const ada = await join('viewer');
    const stranger = ada.email.replaceAll(/./g, (letter) => (/[a-z]/.test(letter) ? 'x' : letter));
    const { mailMessage, signInLink, signInRequest } = api.test.database.models;
    await signInRequest.deleteMany();
    await signInLink.deleteMany();
    const [known, unknown] = [await ask(ada.email, elsewhere()), await ask(stranger, elsewhere())];
    const shape = ({ status, text, headers }: Answer<unknown>) => ({
      status,
      text,
      names: Object.keys(headers).sort(),
    });
    expect(shape(unknown)).toEqual(shape(known));
    const recorded = (await signInRequest.findMany()).map(({ sealed }) => sealed.length);
    expect(recorded).toEqual([recorded[0], recorded[0]]);
    expect([await mailMessage.count(), await signInLink.count()]).toEqual([0, 0]);
    const stored = JSON.stringify(await signInRequest.findMany());
    for (const text of [ada.email, Buffer.from(ada.email).toString('hex'), '198.18.'])
      expect(stored).not.toContain(text);
    expect(await sendSignInMails(api)).toBe(2);
    expect((await waitingMails(api)).map(({ to }) => to)).toEqual([ada.email]);
    expect(await signInRequest.count()).toBe(0);
  });

  it('ends with the time of the link, and with the member', async () => {
    await join('owner');
    const ada = await join('owner');
    const asked = await ask(ada.email, elsewhere());
    const link = await sentLink();
    await api.test.database.models.signInLink.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } });
    expect((await exchange({ link }, browser(asked))).status).toBe(401);
    const again = await ask(ada.email, { ...elsewhere(), ...browser(asked) });
    expect(browser(again)).toEqual(browser(asked));
    const late = await sentLink();
    await api.client(account.key).call('DELETE', `${MEMBERS}/${ada.id}`);
    expect((await exchange({ link: late }, browser(again))).status).toBe(401);
    // And who asks now is nobody.
    await ask(ada.email, elsewhere());
    await api.test.database.models.mailMessage.deleteMany();
    await sendSignInMails(api);
    expect(await waitingMails(api)).toEqual([]);
  });

  it('of a suspended account says that, and the link counts when it goes on', async () => {
    const ada = await join('viewer');
    const asked = await ask(ada.email, elsewhere());
    const link = await sentLink();
    const turn = (status: string) =>
      api.operator().call('PATCH', `/admin/v1/accounts/${account.id}`, { json: { status } });
    await turn('suspended');
    const refused = await exchange({ link }, browser(asked));
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('suspended')]);
    await turn('active');
    expect((await exchange({ link }, browser(asked))).status).toBe(201);
  });

  it('is for pages of this origin', async () => {
    expect((await ask(newAddress(), { ...elsewhere(), Origin: 'https://evil.test' })).status).toBe(403);
  });
});

describe('asking for links', () => {
  const statusesOf = async (times: number, one: () => Promise<Answer<unknown>>): Promise<number[]> => {
    const statuses: number[] = [];
    for (let n = 0; n < times; n += 1) statuses.push((await one()).status);
    return statuses;
  };

  it('is limited for an address from a network, and a stranger takes nothing of it', async () => {
    const email = newAddress();
    const stranger = elsewhere();
    expect(await statusesOf(5, () => ask(email, stranger))).toEqual([202, 202, 202, 429, 429]);
    expect(await statusesOf(3, () => ask(email, elsewhere()))).toEqual([202, 202, 202]);
  });

  it('is limited from a network, and what that is refused counts against no address', async () => {
    const from = elsewhere();
    const statuses = await statusesOf(30, () => ask(newAddress(), from));
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(202));
    expect(statuses.slice(10)).toContain(429);
    const email = newAddress();
    await statusesOf(70, () => ask(email, from));
    expect((await ask(email, elsewhere())).status).toBe(202);
  });

  it('is limited for an address from all networks together, to far more', async () => {
    const email = newAddress();
    const statuses = await statusesOf(100, () => ask(email, elsewhere()));
    expect(statuses.slice(0, 60)).toEqual(Array(60).fill(202));
    expect(statuses).toContain(429);
  });
});

it('a session that was opened by mail is listed as that of its member', async () => {
  const ada = await join('owner');
  const asked = await ask(ada.email, elsewhere());
  await exchange({ link: await sentLink() }, browser(asked));
  const own = new SignedInBrowser(api.client(null), ada.session);
  const { body } = await own.call<{ sessions: { member: { id: string }; key: object | null }[] }>('GET', SESSIONS);
  expect(body.sessions.map(({ member, key }) => [member.id, key])).toEqual([
    [ada.id, null],
    [ada.id, null],
  ]);
});
