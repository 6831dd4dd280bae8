import type { Answer } from '@millrace/testing';
import { SignedInBrowser } from '../fixtures/browser';
import { ADMIN_TOKEN, RunningApi } from '../fixtures/running-api';

const SESSION = '/admin/v1/session';
const SESSIONS = '/admin/v1/sessions';
const WORKERS = '/admin/v1/workers';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_FAILED_AUTH_PER_MINUTE: '1000000', MILLRACE_PUBLIC_URL: 'https://api.test' });
});
afterAll(() => api.close());

const secretIn = ({ headers }: Answer<unknown>): string =>
  /^millrace_operator=([^;]*)/.exec(headers['set-cookie'] ?? '')?.[1] ?? '';

async function signIn(of = api): Promise<string> {
  const answer = await of.operator().call('POST', SESSIONS);
  if (answer.status !== 201) throw new Error(`not signed in: ${answer.status} ${answer.text}`);
  return secretIn(answer);
}

/** As the operators' console asks. */
const ask = <T>(secret: string, method: string, path: string, headers: Record<string, string> = {}, of = api) =>
  of.operator(null).call<T>(method, path, {
    headers: { Cookie: `millrace_operator=${secret}`, 'Millrace-Console': '1', ...headers },
  });
const statusOf = async (...call: Parameters<typeof ask>): Promise<number> => (await ask(...call)).status;

describe('signing in as an operator', () => {
  it('exchanges the admin token for a cookie that no script and no other site can use, for an hour', async () => {
    const answer = await api.operator().call<{ expires_at: string }>('POST', SESSIONS);
    expect(answer.status).toBe(201);
    expect(answer.headers['set-cookie']).toMatch(
      /^millrace_operator=[\w-]{64}; HttpOnly; SameSite=Strict; Path=\/admin\/v1$/,
    );
    expect(answer.headers['cache-control']).toBe('no-store');
    const lifeMs = Date.parse(answer.body.expires_at) - Date.now();
    expect(lifeMs).toBeGreaterThan(3_500_000);
    expect(lifeMs).toBeLessThanOrEqual(3_600_000);
    expect((await ask(secretIn(answer), 'GET', SESSION)).body).toEqual(answer.body);
    expect((await api.operator().call('GET', SESSION)).body).toEqual({
      actor: 'admin',
      role: 'admin',
      expires_at: null,
    });
  });

  it('stores the hash of the session alone, and is in the audit log', async () => {
    const secret = await signIn();
    const rows = JSON.stringify(await api.test.database.models.operatorSession.findMany());
    expect(rows).not.toContain(secret);
    const { body } = await api
      .operator()
      .call<{ entries: object[] }>('GET', '/admin/v1/audit-log?action=operator_session.create&limit=1');
    expect(body.entries).toMatchObject([{ actor: 'admin', subject_type: 'operator_session' }]);
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it('refuses a wrong token, none, a page of another origin, and a session that would prolong itself', async () => {
    const from = async (headers: Record<string, string>) =>
      (await api.operator().call('POST', SESSIONS, { headers })).status;
    expect((await api.operator('wrong').call('POST', SESSIONS)).status).toBe(401);
    expect((await api.operator(null).call('POST', SESSIONS)).status).toBe(401);
    expect(await from({ Origin: 'https://evil.test' })).toBe(403);
    expect(await from({ 'Sec-Fetch-Site': 'same-site' })).toBe(403);
    expect(await from({ Origin: api.opsUrl, 'Sec-Fetch-Site': 'same-origin' })).toBe(201);
    const answer = await ask(await signIn(), 'POST', SESSIONS);
    expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined]);
  });

  it('is limited where many tokens or sessions were wrong', async () => {
    const limited = await RunningApi.open({ MILLRACE_FAILED_AUTH_PER_MINUTE: '2' });
    const tokens = [];
    for (let i = 0; i < 2; i += 1) tokens.push((await limited.operator('wrong').call('POST', SESSIONS)).status);
    expect(tokens).toEqual([401, 401]);
    expect((await limited.operator('wrong').call('POST', SESSIONS)).status).toBe(429);
    expect(await statusOf('made-up', 'GET', WORKERS, {}, limited)).toBe(429);
    expect((await limited.operator().call('POST', SESSIONS)).status).toBe(201);
    await limited.close();
  });
});

describe('a request with a session of an operator', () => {
  it('is an operator’s, and the admin token counts as before', async () => {
    const secret = await signIn();
    expect(await statusOf(secret, 'GET', WORKERS)).toBe(200);
    expect((await ask(secret, 'POST', '/admin/v1/deployments/00000000-0000-7000-8000-000000000009/stop')).status).toBe(
      404,
    );
    expect((await api.operator().call('GET', WORKERS)).status).toBe(200);
    const both = await ask(secret, 'GET', WORKERS, { Authorization: 'Bearer wrong' });
    expect(both.status).toBe(401);
  });

  it.each([
    ['without the header of the console', { 'Millrace-Console': '' }],
    ['from a page of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['from a page of another port of the host', { 'Sec-Fetch-Site': 'same-site' }],
    ['from the public console', { Origin: 'https://api.test' }],
    ['from a page without an origin', { Origin: 'null' }],
  ])('is refused %s, also when it only reads', async (_, headers) => {
    const secret = await signIn();
    for (const method of ['GET', 'DELETE']) {
      const answer = await ask<{ error: { code: string } }>(secret, method, SESSION, headers);
      expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
    }
    expect(await statusOf(secret, 'GET', SESSION)).toBe(200);
  });

  it('is refused after signing out, and other sessions go on', async () => {
    const [secret, other] = [await signIn(), await signIn()];
    const answer = await ask(secret, 'DELETE', SESSION);
    expect(answer.status).toBe(204);
    expect(answer.headers['set-cookie']).toContain('millrace_operator=; ');
    expect([await statusOf(secret, 'GET', WORKERS), await statusOf(other, 'GET', WORKERS)]).toEqual([401, 200]);
  });

  it('is refused after an hour', async () => {
    const secret = await signIn();
    await api.test.database.models.operatorSession.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } });
    expect(await statusOf(secret, 'GET', WORKERS)).toBe(401);
  });

  it('ends with the admin token that made it', async () => {
    const env = { MILLRACE_SECRET_KEY: api.env.MILLRACE_SECRET_KEY ?? '', DATABASE_URL: api.env.DATABASE_URL ?? '' };
    const before = await signIn();
    const after = await RunningApi.open({ ...env, MILLRACE_ADMIN_TOKEN: `${ADMIN_TOKEN}-2` });
    expect(await statusOf(before, 'GET', WORKERS, {}, after)).toBe(401);
    await after.close();
  });
});

it('neither console lets in who is signed in to the other', async () => {
  const { key } = await api.account();
  const { session } = await SignedInBrowser.signIn(api.client(null), { api_key: key });
  expect(await statusOf(session, 'GET', WORKERS)).toBe(401);
  const cookie = { Cookie: `millrace_session=${session}`, 'Millrace-Console': '1' };
  expect((await api.operator(null).call('GET', WORKERS, { headers: cookie })).status).toBe(401);
  const operator = { Cookie: `millrace_session=${await signIn()}` };
  expect((await api.client(null).call('GET', '/api/v2/jobs', { headers: operator })).status).toBe(401);
});
