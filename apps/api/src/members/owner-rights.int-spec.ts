import { SCOPES, scopesOfRole, type MemberRole } from '@millrace/contracts';
import { SignedInBrowser } from '../fixtures/browser';
import { join as joinAs } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const MEMBERS = '/platform/v1/members';
const KEYS = '/platform/v1/api-keys';

interface Session {
  member: { id: string; role: string } | null;
  key: { scopes: string[] };
}

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  // No process of this test sends mail.
  api = await RunningApi.open({ MILLRACE_PUBLIC_URL: 'https://api.test', MILLRACE_MAIL_FOLDER: '/nonexistent' });
});
beforeEach(async () => {
  account = await api.account();
});
afterAll(() => api.close());

let people = 0;
const join = async (role: MemberRole) => {
  const member = await joinAs(api, account, role, `owner-${(people += 1)}@example.com`);
  return { ...member, browser: new SignedInBrowser(api.client(null), member.session) };
};
const byKey = <T>(key: string, method: string, path: string, json?: object) =>
  api.client(key).call<T>(method, path, json && { json });
const makeKey = async (browser: SignedInBrowser, scopes: readonly string[] = SCOPES): Promise<string> => {
  const made = await browser.call<{ key: string }>('POST', KEYS, { json: { name: 'of a member', scopes } });
  expect(made.status).toBe(201);
  return made.body.key;
};
const lower = (id: string, role: MemberRole) => byKey(account.key, 'PATCH', `${MEMBERS}/${id}`, { role });

describe("a session that was opened with a member's own key", () => {
  it('does no more than the role, also after that was lowered', async () => {
    await join('owner');
    const eve = await join('owner');
    const key = await makeKey(eve.browser);
    expect((await lower(eve.id, 'viewer')).status).toBe(200);
    const browser = await SignedInBrowser.signIn(api.client(null), { api_key: key });
    const { body } = await browser.call<Session>('GET', '/platform/v1/session');
    expect(body).toMatchObject({ member: { id: eve.id, role: 'viewer' } });
    expect(body.key.scopes).toEqual(scopesOfRole('viewer'));
    expect((await browser.call('PATCH', `${MEMBERS}/${eve.id}`, { json: { role: 'owner' } })).status).toBe(403);
    expect((await browser.call('GET', KEYS)).status).toBe(403);
    expect((await browser.call('GET', '/api/v2/jobs')).status).toBe(200);
  });

  it('does no more than the key', async () => {
    const ada = await join('owner');
    const browser = await SignedInBrowser.signIn(api.client(null), {
      api_key: await makeKey(ada.browser, ['usage:read']),
    });
    const { body } = await browser.call<Session>('GET', '/platform/v1/session');
    expect(body.key.scopes).toEqual(['usage:read']);
    expect((await browser.call('GET', '/api/v2/jobs')).status).toBe(403);
  });
});
