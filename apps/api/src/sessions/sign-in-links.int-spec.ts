import { SessionStore, SignInLinkStore, SweepSessionsLoop } from '@millrace/accounts';
import { newId } from '@millrace/contracts';
import type { Answer } from '@millrace/testing';
import { SignedInBrowser, sessionIn } from '../fixtures/browser';
import { SELF_HOSTED_ACCOUNT } from '../endpoints';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Link {
  url: string;
  expires_at: string;
}
interface Session {
  account: { id: string };
  key: { id: string | null; name: string; scopes: string[] };
  expires_at: string;
}

const TOKEN = 'the-one-token';
const SESSIONS = '/platform/v1/sessions';
const SESSION = '/platform/v1/session';
const JOBS = '/api/v2/jobs';

let cloud: RunningApi;
let closed: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  cloud = await RunningApi.open({ MILLRACE_PUBLIC_URL: 'https://api.example.com' });
  closed = await RunningApi.open({ MILLRACE_SURFACE: 'self_hosted', MILLRACE_TOKEN: TOKEN });
  account = await cloud.account();
});
afterAll(() => Promise.all([cloud.close(), closed.close()]));

const make = (json: object = {}, { id } = account, api = cloud) =>
  api.operator().call<Link>('POST', `/admin/v1/accounts/${id}/sign-in-links`, { json });
const tokenIn = ({ body }: Answer<Link>): string => new URL(body.url).hash.replace('#link=', '');
const signIn = (json: object, api = cloud) => api.client(null).call<Session>('POST', SESSIONS, { json });
const browserOf = (answer: Answer<Session>, api = cloud) => new SignedInBrowser(api.client(null), sessionIn(answer));

describe('a sign-in link', () => {
  it('leads to the console, and signs in as the key that it was made for', async () => {
    const made = await make({ api_key_id: account.keyId });
    expect(made.status).toBe(201);
    expect(made.body.url).toMatch(/^https:\/\/api\.example\.com\/console\/#link=[\w-]{64}$/);
    expect(Date.parse(made.body.expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000);
    const answer = await signIn({ link: tokenIn(made) });
    expect(answer).toMatchObject({ status: 201, body: { account: { id: account.id }, key: { id: account.keyId } } });
    expect((await browserOf(answer).call('GET', JOBS)).status).toBe(200);
  });

  it('brings a key of its own where it names none, which ends with the session', async () => {
    const answer = await signIn({ link: tokenIn(await make()) });
    expect(answer.body.key).toMatchObject({ name: 'Console' });
    const { api_keys: keys } = (
      await browserOf(answer).call<{ api_keys: { id: string; expires_at: string }[] }>('GET', '/platform/v1/api-keys')
    ).body;
    const key = keys.find(({ id }) => id === answer.body.key.id);
    const laterMs = Date.parse(key?.expires_at ?? '') - Date.parse(answer.body.expires_at);
    expect(laterMs).toBeGreaterThanOrEqual(0);
    expect(laterMs).toBeLessThanOrEqual(15 * 60_000);
  });

  it('signs in once, however many try at a time', async () => {
    const link = tokenIn(await make({ api_key_id: account.keyId }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn({ link })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(401)]);
    expect((await signIn({ link })).status).toBe(401);
  });

  it('says what it signs in to, and counts afterwards all the same', async () => {
    const link = tokenIn(await make({ api_key_id: account.keyId }));
    const look = () => cloud.client(null).call('POST', `${SESSIONS}/offers`, { json: { link } });
    const offer = { account: { id: account.id, name: 'a test' }, member: null, asked_here: false };
    expect([await look(), await look()]).toMatchObject([
      { status: 200, body: offer },
      { status: 200, body: offer },
    ]);
    expect((await signIn({ link })).status).toBe(201);
    expect((await look()).status).toBe(401);
  });

  it('expires', async () => {
    const link = tokenIn(await make({ api_key_id: account.keyId }));
    await cloud.test.database.models.signInLink.updateMany({ data: { expiresAt: new Date() } });
    expect((await signIn({ link })).status).toBe(401);
  });

  it('is worth nothing once its key is revoked or its account suspended', async () => {
    const own = await cloud.account();
    const [revoked, suspended] = [await cloud.key(own.id), await cloud.key(own.id)];
    const links = [revoked, suspended].map(({ keyId }) => make({ api_key_id: keyId }, own));
    const [first = '', second = ''] = (await Promise.all(links)).map(tokenIn);
    await cloud.operator().call('DELETE', `/admin/v1/accounts/${own.id}/api-keys/${revoked.keyId}`);
    expect((await signIn({ link: first })).status).toBe(401);
    await cloud.operator().call('PATCH', `/admin/v1/accounts/${own.id}`, { json: { status: 'suspended' } });
    const refused = await signIn({ link: second });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('suspended')]);
  });

  it('is made for keys of the account that work, and for accounts that exist', async () => {
    const other = await cloud.account();
    expect((await make({ api_key_id: other.keyId })).status).toBe(404);
    const { keyId } = await cloud.key(account.id);
    await cloud.operator().call('DELETE', `/admin/v1/accounts/${account.id}/api-keys/${keyId}`);
    expect((await make({ api_key_id: keyId })).status).toBe(404);
    expect((await make({}, { ...account, id: newId() })).status).toBe(404);
  });

  it('is stored as a hash, and its making is in the audit log', async () => {
    const link = tokenIn(await make({ api_key_id: account.keyId }));
    expect(JSON.stringify(await cloud.test.database.models.signInLink.findMany())).not.toContain(link);
    const { text } = await cloud.operator().call('GET', '/admin/v1/audit-log?action=sign_in_link.create&limit=1');
    expect(text).toContain(account.keyId);
    expect(text).not.toContain(link);
  });
});

describe('on a self-hosted surface', () => {
  it('the token is exchanged for a session, which does what the token does', async () => {
    expect(await signIn({}, closed)).toMatchObject({
      status: 401,
      body: { error: { details: { credential: 'token' } } },
    });
    expect((await signIn({ api_key: `${TOKEN}x` }, closed)).status).toBe(401);
    const answer = await signIn({ api_key: TOKEN }, closed);
    expect(answer).toMatchObject({ status: 201, body: { account: { id: SELF_HOSTED_ACCOUNT }, key: { id: null } } });
    const browser = browserOf(answer, closed);
    expect((await browser.call('GET', JOBS)).status).toBe(200);
    expect((await browser.call('GET', '/platform/v1/account')).status).toBe(200);
    expect((await closed.client(null).call('GET', JOBS)).status).toBe(401);
    expect((await browser.call('DELETE', SESSION)).status).toBe(204);
    expect((await browser.call('GET', JOBS)).status).toBe(401);
  });

  it('a link signs in without a key', async () => {
    const link = tokenIn(await make({}, { ...account, id: SELF_HOSTED_ACCOUNT }, closed));
    const answer = await signIn({ link }, closed);
    expect((await browserOf(answer, closed).call('GET', JOBS)).status).toBe(200);
  });

  it('a session lets nobody in to a deployment, which has keys', async () => {
    const { id, key } = await closed.account();
    const made = await closed
      .operator()
      .call<{ path: string }>('POST', '/admin/v1/deployments', { json: { account_id: id, name: 'a test' } });
    const path = `${made.body.path}${JOBS}`;
    const browser = browserOf(await signIn({ api_key: TOKEN }, closed), closed);
    expect((await browser.call('GET', path)).status).toBe(401);
    expect((await closed.client(key).call('GET', path)).status).toBe(200);
    const link = tokenIn(await make({}, { ...account, id }, closed));
    expect((await signIn({ link }, closed)).status).toBe(401);
  });

  it('a session ends when the token changes', async () => {
    const shared = { DATABASE_URL: closed.test.url, MILLRACE_SECRET_KEY: closed.env.MILLRACE_SECRET_KEY ?? '' };
    const browser = browserOf(await signIn({ api_key: TOKEN }, closed), closed);
    const changed = await RunningApi.open({
      ...shared,
      MILLRACE_SURFACE: 'self_hosted',
      MILLRACE_TOKEN: 'another-token',
    });
    const elsewhere = new SignedInBrowser(changed.client(null), browser.session);
    const status = (await elsewhere.call('GET', JOBS)).status;
    await changed.close();
    expect([status, (await browser.call('GET', JOBS)).status]).toEqual([401, 200]);
  });

  it('that asks for no credential, a session is made from nothing', async () => {
    const open = await RunningApi.open({ MILLRACE_SURFACE: 'self_hosted' });
    const answer = await open.client(null).call<Session>('POST', SESSIONS, {});
    const browser = browserOf(answer, open);
    const statuses = [
      (await browser.call('GET', SESSION)).status,
      (await browser.call('DELETE', SESSION)).status,
      (await browser.call('GET', SESSION)).status,
      // An open surface looks at no credential, and so at no session.
      (await browser.call('GET', JOBS)).status,
    ];
    await open.close();
    expect(answer.status).toBe(201);
    expect(statuses).toEqual([200, 204, 401, 200]);
  });
});

it('what has expired is swept, and nothing else', async () => {
  const { database } = cloud.test;
  await make({ api_key_id: account.keyId });
  const kept = await signIn({ api_key: account.key });
  await signIn({ link: tokenIn(await make({ api_key_id: account.keyId })) });
  const [newest] = await database.models.consoleSession.findMany({ orderBy: { id: 'desc' }, take: 1 });
  const past = { expiresAt: new Date(Date.now() - 1_000) };
  await database.models.consoleSession.updateMany({ where: { id: newest?.id ?? '' }, data: past });
  await database.models.signInLink.updateMany({ data: past });
  const loop = new SweepSessionsLoop(database, [new SessionStore(), new SignInLinkStore()]);
  expect(await loop.runOnce()).toBeGreaterThanOrEqual(2);
  expect(await loop.runOnce()).toBe(0);
  expect(await database.models.signInLink.count()).toBe(0);
  expect((await browserOf(kept).call('GET', SESSION)).status).toBe(200);
});
