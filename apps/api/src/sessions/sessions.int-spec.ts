import { randomBytes } from 'node:crypto';
import { SCOPES, newId } from '@millrace/contracts';
import { KeyRing } from '@millrace/platform';
import { SecretMint } from '@millrace/accounts';
import { eventually, type Answer } from '@millrace/testing';
import { SignedInBrowser, sessionIn } from '../fixtures/browser';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Session {
  account: { id: string; name: string };
  key: { id: string | null; name: string; scopes: string[] };
  expires_at: string;
}

const SESSION = '/platform/v1/session';
const SESSIONS = '/platform/v1/sessions';
const JOBS = '/api/v2/jobs';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_FAILED_AUTH_PER_MINUTE: '1000000' });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  account = await api.account();
});
afterAll(() => api.close());

const anonymous = () => api.client(null);
const signIn = (key = account.key) => SignedInBrowser.signIn(anonymous(), { api_key: key });
const withCookie = (method: string, path: string, cookie: string, headers: Record<string, string> = {}) =>
  anonymous().call(method, path, { headers: { Cookie: cookie, ...headers } });
const statusOf = async (browser: SignedInBrowser): Promise<number> => (await browser.call('GET', JOBS)).status;
const sessionStatusOf = async (browser: SignedInBrowser): Promise<number> =>
  (await browser.call('GET', SESSION)).status;
const outcome = ({ status, body }: Answer<{ error?: { code: string } }>) => [status, body.error?.code];

describe('signing in with a key', () => {
  it('answers with who is signed in, and a cookie that no script and no other site can use', async () => {
    const answer = await anonymous().call<Session>('POST', SESSIONS, { json: { api_key: ` ${account.key}\n` } });
    expect(answer.status).toBe(201);
    expect(answer.headers['set-cookie']).toMatch(/^millrace_session=[\w-]{64}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toMatchObject({ account: { id: account.id, name: 'a test' }, key: { id: account.keyId } });
    expect(answer.body.key.scopes).toEqual(SCOPES);
    const lifeMs = Date.parse(answer.body.expires_at) - Date.now();
    expect(lifeMs).toBeGreaterThan(11 * 3_600_000);
    expect(lifeMs).toBeLessThanOrEqual(12 * 3_600_000);
    const browser = new SignedInBrowser(anonymous(), sessionIn(answer));
    expect((await browser.call('GET', SESSION)).body).toEqual(answer.body);
  });

  it('has a cookie for TLS alone where the service is reached by it', async () => {
    const secure = await RunningApi.open({ MILLRACE_PUBLIC_URL: 'https://api.example.com' });
    const { key } = await secure.account();
    const answer = await secure.client(null).call('POST', SESSIONS, { json: { api_key: key } });
    await secure.close();
    expect(answer.headers['set-cookie']).toMatch(/; Secure$/);
  });

  it('stores the hash of the session alone', async () => {
    const { session } = await signIn();
    const rows = JSON.stringify(await api.test.database.models.consoleSession.findMany());
    expect(rows).not.toContain(session);
    expect(rows).not.toContain(Buffer.from(session, 'base64url').toString('hex'));
  });

  it.each([
    ['a key that is none', { api_key: 'mr_live_000000000000000000000000000000000000' }, 401, 'unauthorized'],
    ['no credential', {}, 401, 'unauthorized'],
    ['a link that is none', { link: 'x' }, 401, 'unauthorized'],
    ['both', { api_key: 'x', link: 'y' }, 422, 'invalid_request'],
  ])('refuses %s', async (_, json, status, code) => {
    const answer = await anonymous().call('POST', SESSIONS, { json });
    expect(outcome(answer)).toEqual([status, code]);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('refuses a page of another origin', async () => {
    const from = async (headers: Record<string, string>) =>
      (await anonymous().call('POST', SESSIONS, { json: { api_key: account.key }, headers })).status;
    expect(await from({ Origin: 'https://evil.test' })).toBe(403);
    expect(await from({ 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await from({ 'Sec-Fetch-Site': 'same-site' })).toBe(403);
    expect(await from({ Origin: 'null' })).toBe(403);
    expect(await from({ Origin: api.publicUrl, 'Sec-Fetch-Site': 'same-origin' })).toBe(201);
  });

  it('is in the audit log, and so is signing out everywhere', async () => {
    const own = await api.account();
    const browser = await signIn(own.key);
    expect((await browser.call('DELETE', SESSIONS)).status).toBe(204);
    const { body } = await api
      .operator()
      .call<{ entries: { action: string; actor: string }[] }>(
        'GET',
        `/admin/v1/audit-log?account_id=${own.id}&limit=2`,
      );
    const actor = `api_key:${own.keyId}`;
    expect(body.entries).toMatchObject([
      { action: 'session.end_all', actor, details: { count: 1 } },
      { action: 'session.create', actor, details: { apiKeyId: own.keyId } },
    ]);
  });
});

describe('a request with a session', () => {
  it("is that of the key, with the key's scopes, on the API and on the platform API", async () => {
    const { key } = await api.key(account.id, ['jobs:read']);
    const browser = await signIn(key);
    expect(await statusOf(browser)).toBe(200);
    const refused = await browser.call<{ error: { details: object } }>('POST', JOBS, { json: { workflow: GRAPH } });
    expect(refused).toMatchObject({ status: 403, body: { error: { details: { scope: 'jobs:write' } } } });
    expect((await browser.call('GET', '/platform/v1/api-keys')).status).toBe(403);
  });

  it('makes jobs and keys as the key does', async () => {
    const browser = await signIn();
    const job = await browser.call<{ id: string }>('POST', JOBS, { json: { workflow: GRAPH } });
    expect(job.status).toBe(201);
    const stored = await api.test.database.models.job.findUniqueOrThrow({ where: { id: job.body.id } });
    expect(stored).toMatchObject({ accountId: account.id, apiKeyId: account.keyId });
    const made = await browser.call<{ parent_id: string }>('POST', '/platform/v1/api-keys', { json: { name: 'x' } });
    expect(made.body.parent_id).toBe(account.keyId);
  });

  it("reads nothing of another account's", async () => {
    const other = await signIn((await api.account()).key);
    const { id } = await api.client(account.key).run(GRAPH);
    expect((await other.call('GET', `${JOBS}/${id}`)).status).toBe(404);
  });

  it('is refused where the page means another account, for reads and acts alike; a key acts for its own', async () => {
    const other = await api.account();
    const browser = await signIn();
    const meant = (id: string) => ({ headers: { 'Millrace-Account': id } });
    expect((await browser.call('GET', JOBS, meant(account.id))).status).toBe(200);
    for (const [method, path] of [
      ['GET', JOBS],
      ['POST', '/platform/v1/api-keys'],
      ['DELETE', SESSION],
    ] as const) {
      expect(outcome(await browser.call(method, path, meant(other.id)))).toEqual([409, 'another_account']);
    }
    expect((await browser.call('GET', SESSION)).status).toBe(200);
    expect((await api.client(account.key).call('GET', JOBS, meant(other.id))).status).toBe(200);
  });

  it('counts with those of the account', async () => {
    const own = await api.account({ limits: { requests_per_minute: 3 } });
    const browser = await signIn(own.key);
    const statuses = [await statusOf(browser), await statusOf(browser), await statusOf(browser)];
    // Signing in was the first of them.
    expect(statuses).toEqual([200, 200, 429]);
    expect((await api.client(own.key).call('GET', JOBS)).status).toBe(429);
  });

  it('is answered to HEAD without the header of the console, and no OPTIONS lets other origins in', async () => {
    const { session } = await signIn();
    const cookie = `millrace_session=${session}`;
    expect((await withCookie('HEAD', JOBS, cookie)).status).toBe(200);
    const options = await withCookie('OPTIONS', JOBS, cookie, { Origin: 'https://evil.test' });
    expect(Object.keys(options.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('notes the use of its key', async () => {
    const { key, keyId } = await api.key(account.id);
    await statusOf(await signIn(key));
    await eventually('the use to be recorded', async () => {
      const { lastUsedAt } = await api.test.database.models.apiKey.findUniqueOrThrow({ where: { id: keyId } });
      return lastUsedAt !== null;
    });
  });
});

describe('a request that another page may have caused', () => {
  const post = async (headers: Record<string, string>) => {
    const { session } = await signIn();
    const cookie = `millrace_session=${session}`;
    return anonymous().call('POST', JOBS, { json: { workflow: GRAPH }, headers: { Cookie: cookie, ...headers } });
  };

  it('is refused without the header of the console, and the answer says the cure', async () => {
    const answer = await post({});
    expect(outcome(answer)).toEqual([403, 'forbidden']);
    expect(answer.body.error.message).toContain('Millrace-Console: 1');
    expect((await post({ 'Millrace-Console': '1' })).status).toBe(201);
  });

  it.each([
    ['another origin', { Origin: 'https://evil.test' }],
    ['another port of this host', { Origin: 'http://127.0.0.1:1' }],
    ['no origin', { Origin: 'null' }],
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another host of this site', { 'Sec-Fetch-Site': 'same-site' }],
    ['the address bar', { 'Sec-Fetch-Site': 'none' }],
  ])('is refused from %s', async (_, headers) => {
    expect(outcome(await post({ 'Millrace-Console': '1', ...headers }))).toEqual([403, 'forbidden']);
  });

  it('is refused to end a session, too', async () => {
    const { session } = await signIn();
    for (const path of [SESSION, SESSIONS]) {
      expect((await withCookie('DELETE', path, `millrace_session=${session}`)).status).toBe(403);
    }
  });
});

describe('a cookie', () => {
  it.each([
    ['is empty', () => ''],
    ['is made up', () => 'A'.repeat(64)],
    ['is altered', (session: string) => `${session.slice(1)}A`],
    ['was made with another secret', () => new SecretMint(KeyRing.of(Buffer.alloc(32)), 'console sessions').make()],
    ['belongs to no session', () => new SecretMint(ringOf(api), 'console sessions').make()],
  ])('that %s is worth nothing', async (_, forge) => {
    const { session } = await signIn();
    const answer = await withCookie('GET', JOBS, `millrace_session=${forge(session)}`);
    expect(outcome(answer)).toEqual([401, 'unauthorized']);
  });

  it('is not looked at where the request has a credential of its own', async () => {
    const other = await api.account();
    const { session } = await signIn();
    const Cookie = `millrace_session=${session}`;
    const answer = await api.client(other.key).call<Session>('GET', '/platform/v1/account', { headers: { Cookie } });
    expect(answer.text).toContain(other.id);
    expect((await api.client('mr_live_none').call('GET', JOBS, { headers: { Cookie } })).status).toBe(401);
    expect((await api.client(account.key).call('GET', SESSION, { headers: { Cookie } })).status).toBe(401);
  });

  it('that comes twice is worth nothing, whichever is first', async () => {
    const [own, other] = [await signIn(), await signIn((await api.account()).key)];
    const pair = [own.session, other.session].map((session) => `millrace_session=${session}`);
    for (const cookies of [pair, [...pair].reverse()]) {
      const answer = await withCookie('GET', JOBS, cookies.join('; '));
      expect(outcome(answer)).toEqual([401, 'unauthorized']);
    }
  });

  it('is found among others', async () => {
    const { session } = await signIn();
    expect((await withCookie('GET', JOBS, `a=b; millrace_session=${session}; not_millrace_session=x`)).status).toBe(
      200,
    );
  });

  it('signs nobody in to the admin API', async () => {
    const { session } = await signIn();
    const headers = { Cookie: `millrace_session=${session}`, 'Millrace-Console': '1' };
    expect((await api.operator(null).call('GET', '/admin/v1/workers', { headers })).status).toBe(401);
  });
});

describe('a session', () => {
  it('ends when its holder signs out, and no other does', async () => {
    const [browser, other] = [await signIn(), await signIn()];
    const answer = await browser.call('DELETE', SESSION);
    expect(answer.status).toBe(204);
    expect(answer.headers['set-cookie']).toMatch(/^millrace_session=; .*Max-Age=0/);
    expect([await statusOf(browser), await statusOf(other)]).toEqual([401, 200]);
  });

  it('ends when its holder signs out everywhere, while keys and other accounts go on', async () => {
    const own = await api.account();
    const [browser, other, elsewhere] = [await signIn(own.key), await signIn(own.key), await signIn()];
    expect((await browser.call('DELETE', SESSIONS)).status).toBe(204);
    expect([await statusOf(browser), await statusOf(other), await statusOf(elsewhere)]).toEqual([401, 401, 200]);
    expect((await api.client(own.key).call('GET', JOBS)).status).toBe(200);
  });

  it('of a key that lacks a scope ends no session of others, however it signs out', async () => {
    const own = await api.account();
    const { key } = await api.key(own.id, ['jobs:read']);
    const [owner, browser, other] = [await signIn(own.key), await signIn(key), await signIn(key)];
    expect((await browser.call('DELETE', SESSIONS)).status).toBe(204);
    expect([await statusOf(owner), await statusOf(browser), await statusOf(other)]).toEqual([200, 401, 401]);
  });

  it('ends when its key signs in 50 times more, and that ends none of others', async () => {
    const own = await api.account();
    const { key } = await api.key(own.id, ['jobs:read']);
    const [owner, first, second] = [await signIn(own.key), await signIn(key), await signIn(key)];
    for (let count = 0; count < 49; count += 1) await signIn(key);
    expect([await sessionStatusOf(first), await sessionStatusOf(second)]).toEqual([401, 200]);
    expect(await sessionStatusOf(owner)).toBe(200);
  });

  it.each([
    ['of a member', 50],
    ['of the account', 999],
  ])('of an owner goes on while many keys %s sign in again and again', async (whose, left) => {
    const { models } = api.test.database;
    const own = await api.account();
    const owner = await signIn(own.key);
    const keys = await Promise.all(Array.from({ length: 20 }, () => api.key(own.id, ['jobs:read'])));
    const ids = keys.map(({ keyId }) => keyId);
    if (whose === 'of a member') {
      const member = { accountId: own.id, email: 'dev@example.com', role: 'developer' };
      const { id } = await models.member.create({ data: { id: newId(), ...member } });
      await models.apiKey.updateMany({ where: { id: { in: ids } }, data: { memberId: id } });
    }
    const expiresAt = new Date(Date.now() + 3_600_000);
    const sessionsOf = (apiKeyId: string) =>
      Array.from({ length: 50 }, () => ({
        id: newId(),
        accountId: own.id,
        apiKeyId,
        secretHash: randomBytes(32),
        expiresAt,
      }));
    await models.consoleSession.createMany({ data: ids.flatMap(sessionsOf) });
    const newest = await signIn(keys[0]?.key);
    expect([await sessionStatusOf(owner), await sessionStatusOf(newest)]).toEqual([200, 200]);
    expect(await models.consoleSession.count({ where: { apiKeyId: { in: ids } } })).toBe(left);
  });

  it('ends with its key', async () => {
    const { key, keyId } = await api.key(account.id);
    const browser = await signIn(key);
    expect(await statusOf(browser)).toBe(200);
    await api.client(account.key).call('DELETE', `/platform/v1/api-keys/${keyId}`);
    expect([await statusOf(browser), (await browser.call('GET', SESSION)).status]).toEqual([401, 401]);
  });

  it('ends when its key expires, and says so from the beginning', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const made = await api
      .client(account.key)
      .call<{ key: string }>('POST', '/platform/v1/api-keys', { json: { name: 'short', expires_at: expiresAt } });
    const browser = await signIn(made.body.key);
    expect((await browser.call<Session>('GET', SESSION)).body.expires_at).toBe(expiresAt);
  });

  it('ends when its time is over', async () => {
    const browser = await signIn();
    await api.test.database.models.consoleSession.updateMany({ data: { expiresAt: new Date() } });
    await eventually('the session to be refused', async () => (await statusOf(browser)) === 401);
  });

  it('rests while its account is suspended', async () => {
    const own = await api.account();
    const browser = await signIn(own.key);
    const set = (status: string) => api.operator().call('PATCH', `/admin/v1/accounts/${own.id}`, { json: { status } });
    await set('suspended');
    expect([await statusOf(browser), (await browser.call('GET', SESSION)).status]).toEqual([403, 403]);
    expect((await anonymous().call('POST', SESSIONS, { json: { api_key: own.key } })).status).toBe(403);
    await set('active');
    expect(await statusOf(browser)).toBe(200);
  });

  it('ends its event streams with it', async () => {
    const browser = await signIn();
    const { id } = await api.client(account.key).run(GRAPH);
    const stream = await fetch(`${api.publicUrl}${JOBS}/${id}/events`, {
      headers: { Cookie: `millrace_session=${browser.session}` },
    });
    expect(stream.status).toBe(200);
    await browser.call('DELETE', SESSION);
    // Reads to the end of the stream.
    expect(await stream.text()).toContain('event: status');
  });
});

function ringOf({ env }: RunningApi): KeyRing {
  return KeyRing.parse(env.MILLRACE_SECRET_KEY ?? '') as KeyRing;
}
