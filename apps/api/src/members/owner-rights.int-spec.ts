import { SCOPES, newId, scopesOfRole, type MemberRole } from '@millrace/contracts';
import { SignedInBrowser } from '../fixtures/browser';
import { join as joinAs, tokenIn, waitingMails } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const MEMBERS = '/platform/v1/members';
const KEYS = '/platform/v1/api-keys';
const INVITATIONS = '/platform/v1/invitations';
const RULES = '/platform/v1/account/access';
const EXPORT = '/platform/v1/account/export';
const ERASURES = '/platform/v1/erasures';

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
const newAddress = (): string => `invited-${(people += 1)}@example.com`;
const invite = async (key: string): Promise<{ id: string }> => {
  const made = await byKey<{ id: string }>(key, 'POST', INVITATIONS, { email: newAddress(), role: 'owner' });
  expect(made.status).toBe(201);
  return made.body;
};
const erasure = () => ({ subject: 'account', confirm: `erase account ${account.id}` });
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

describe('what owners alone do', () => {
  /** Each such act, with what it needs, on the account of the test. */
  const acts: [string, () => Promise<[method: string, path: string, json?: object]>][] = [
    ['gives another role', async () => ['PATCH', `${MEMBERS}/${(await join('viewer')).id}`, { role: 'owner' }]],
    ['removes a member', async () => ['DELETE', `${MEMBERS}/${(await join('viewer')).id}`]],
    ['invites', async () => ['POST', INVITATIONS, { email: newAddress(), role: 'owner' }]],
    ['takes an invitation back', async () => ['DELETE', `${INVITATIONS}/${(await invite(account.key)).id}`]],
    ['says from where keys may be used', async () => ['PATCH', RULES, { allowed_addresses: ['127.0.0.0/8'] }]],
    ['erases the account', async () => ['POST', ERASURES, erasure()]],
  ];

  it.each(acts)(
    '%s: who was an owner a moment ago does not, although this process still has it in its cache',
    async (_, act) => {
      const [method, path, json] = await act();
      const eve = await join('owner');
      const key = await makeKey(eve.browser);
      const ask = () => [eve.browser.call(method, path, json && { json }), byKey(key, method, path, json)];
      const warm = () => Promise.all([eve.browser.call('GET', MEMBERS), byKey(key, 'GET', MEMBERS)]);
      const { models } = api.test.database;
      await warm();
      await models.member.update({ where: { id: eve.id }, data: { role: 'developer' } });
      expect((await Promise.all(ask())).map(({ status }) => status)).toEqual([403, 403]);
      await models.member.update({ where: { id: eve.id }, data: { role: 'owner' } });
      await warm();
      await models.apiKey.updateMany({ where: { memberId: eve.id }, data: { revokedAt: new Date(Date.now() - 1) } });
      expect((await Promise.all(ask())).map(({ status }) => status)).toEqual([401, 401]);
    },
  );

  it.each(acts)('%s: a key with all scopes does, and one without one of them does not', async (_, act) => {
    const narrow = await api.key(
      account.id,
      SCOPES.filter((scope) => scope !== 'credits:write'),
    );
    const [method, path, json] = await act();
    expect((await byKey(narrow.key, method, path, json)).status).toBe(403);
    expect((await byKey(account.key, method, path, json)).status).toBeLessThan(300);
  });

  it('is not to erase a job, or what carries a label', async () => {
    const { browser } = await join('developer');
    const label = { subject: 'label', label: 'user', value: 'ada' };
    expect((await browser.call('POST', ERASURES, { json: label })).status).toBe(202);
    expect((await browser.call('POST', ERASURES, { json: { subject: 'job', job_id: newId() } })).status).toBe(404);
    expect((await browser.call('POST', ERASURES, { json: erasure() })).status).toBe(403);
    expect((await browser.call('GET', RULES)).status).toBe(200);
    expect((await browser.call('PATCH', RULES, { json: { key_max_age_seconds: 86_400 } })).status).toBe(403);
  });

  it('is not to say from where a key may be used, and who does that has a key that works', async () => {
    const { browser } = await join('developer');
    const acting = await makeKey(browser, ['keys:admin']);
    const { keyId } = await api.key(account.id, ['keys:admin']);
    const path = `${KEYS}/${keyId}`;
    expect((await byKey(acting, 'PATCH', path, { allowed_addresses: ['127.0.0.1'] })).status).toBe(200);
    expect((await byKey(acting, 'GET', KEYS)).status).toBe(200);
    const revoked = { revokedAt: new Date(Date.now() - 1) };
    await api.test.database.models.apiKey.updateMany({ where: { scopes: { equals: ['keys:admin'] } }, data: revoked });
    expect((await byKey(acting, 'PATCH', path, { allowed_addresses: [] })).status).toBe(401);
  });
});

describe('a key with keys:admin alone', () => {
  const lacks = (scope: string) => ({ status: 403, body: { error: { details: { scope } } } });

  it('ends, changes and replaces no key that may do more, but itself', async () => {
    const { key, keyId } = await api.key(account.id, ['keys:admin']);
    const [wider, path] = [`${KEYS}/${account.keyId}`, `${KEYS}/${keyId}`];
    const list = { allowed_addresses: ['127.0.0.1'] };
    for (const [method, target, json] of [
      ['DELETE', wider],
      ['PATCH', wider, list],
      ['POST', `${wider}/rotate`, {}],
    ] as const) {
      const refused = await byKey(key, method, target, json);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('scopes that you lack: jobs:read')]);
    }
    const { browser } = await join('developer');
    expect((await browser.call('DELETE', wider)).status).toBe(403);
    expect((await byKey(account.key, 'GET', KEYS)).status).toBe(200);
    expect((await byKey(key, 'PATCH', path, list)).status).toBe(200);
    expect((await byKey(key, 'DELETE', path)).status).toBe(204);
  });

  it('is one, too, after its member was lowered: it replaces itself, and the new one may do no more', async () => {
    await join('owner');
    const eve = await join('owner');
    const key = await makeKey(eve.browser);
    expect((await lower(eve.id, 'developer')).status).toBe(200);
    const { body } = await byKey<{ api_keys: { id: string; member_id: string | null }[] }>(key, 'GET', KEYS);
    const id = body.api_keys.find((own) => own.member_id === eve.id)?.id ?? '';
    expect((await byKey(key, 'POST', `${KEYS}/${account.keyId}/rotate`, {})).status).toBe(403);
    const rotated = await byKey<{ id: string; key: string }>(key, 'POST', `${KEYS}/${id}/rotate`, {});
    expect(rotated).toMatchObject({ status: 201, body: { member_id: eve.id } });
    const successor = await SignedInBrowser.signIn(api.client(null), { api_key: rotated.body.key });
    const session = await successor.call<Session>('GET', '/platform/v1/session');
    expect(session.body.key.scopes).toEqual(scopesOfRole('developer'));
    expect((await byKey(rotated.body.key, 'DELETE', `${KEYS}/${account.keyId}`)).status).toBe(403);
  });

  it('reads no archive of what it may not read elsewhere', async () => {
    const { key } = await api.key(account.id, ['keys:admin']);
    expect(await byKey(key, 'GET', EXPORT)).toMatchObject(lacks('jobs:read'));
    const reader = await api.key(account.id, ['keys:admin', 'jobs:read', 'assets:read', 'usage:read', 'webhooks:read']);
    expect((await byKey(reader.key, 'GET', EXPORT)).status).toBe(200);
  });

  it('has no day of usage and ledger written to a bucket of its own', async () => {
    const json = {
      bucket: 'mine',
      region: 'eu-central-1',
      access_key_id: 'AKIAEXAMPLE',
      secret_access_key: 'a-secret',
    };
    const destination = '/platform/v1/export-destination';
    const put: [method: string, path: string, json: object] = ['PUT', destination, json];
    const acts: [method: string, path: string, json?: object][] = [
      put,
      ['PATCH', destination, { enabled: true }],
      ['POST', `${destination}/test`],
      ['POST', '/platform/v1/exports/2026-01-01/deliver'],
    ];
    const { key } = await api.key(account.id, ['keys:admin']);
    for (const act of acts) expect(await byKey(key, ...act)).toMatchObject(lacks('usage:read'));
    const reader = await api.key(account.id, ['keys:admin', 'usage:read']);
    expect((await byKey(reader.key, ...put)).status).toBe(200);
    expect((await byKey(key, 'DELETE', destination)).status).toBe(204);
  });

  it('erases no job and nothing that carries a label', async () => {
    const { key } = await api.key(account.id, ['keys:admin', 'jobs:write']);
    const subjects = [
      { subject: 'job', job_id: newId() },
      { subject: 'label', label: 'user', value: 'ada' },
    ];
    for (const json of subjects) expect(await byKey(key, 'POST', ERASURES, json)).toMatchObject(lacks('assets:write'));
  });
});

describe('an invitation', () => {
  const openOnes = async (): Promise<string[]> =>
    (await byKey<{ invitations: { id: string }[] }>(account.key, 'GET', INVITATIONS)).body.invitations.map(
      ({ id }) => id,
    );

  it.each(['lowered', 'removed'])(
    'ends with the owner who made it, when they are %s, in a session or by a key',
    async (how) => {
      const eve = await join('owner');
      const key = await makeKey(eve.browser);
      const child = (await byKey<{ key: string }>(key, 'POST', KEYS, { name: 'of the key' })).body.key;
      const kept = await invite(account.key);
      const bySession = await eve.browser.call<{ id: string }>('POST', INVITATIONS, {
        json: { email: newAddress(), role: 'owner' },
      });
      expect(bySession.status).toBe(201);
      const gone = [await invite(key), await invite(child)];
      const tokens = (await waitingMails(api)).slice(-3).map(tokenIn);
      await join('owner');
      const path = `${MEMBERS}/${eve.id}`;
      const act = how === 'lowered' ? lower(eve.id, 'developer') : byKey(account.key, 'DELETE', path);
      expect((await act).status).toBeLessThan(300);
      expect(await openOnes()).toEqual([kept.id]);
      expect(gone).toHaveLength(2);
      for (const invitation of tokens) {
        const accepted = await api.client(null).call('POST', '/platform/v1/sessions', { json: { invitation } });
        expect(accepted.status).toBe(401);
      }
    },
  );

  const accept = async () => {
    const invitation = tokenIn((await waitingMails(api)).at(-1));
    const client = api.client(null);
    const looked = await client.call('POST', '/platform/v1/sessions/offers', { json: { invitation } });
    const taken = await client.call('POST', '/platform/v1/sessions', { json: { invitation } });
    return [looked.status, taken.status];
  };
  const rotate = async (id: string): Promise<string> => {
    const json = { overlap_seconds: 0 };
    const rotated = await byKey<{ id: string }>(account.key, 'POST', `${KEYS}/${id}/rotate`, json);
    expect(rotated.status).toBe(201);
    return rotated.body.id;
  };

  it('goes on with the successor of the key that made it', async () => {
    const { key, keyId } = await api.key(account.id);
    const { id } = await invite(key);
    await rotate(await rotate(keyId));
    expect(await openOnes()).toEqual([id]);
    expect(await accept()).toEqual([200, 201]);
  });

  it('ends with the last successor of the key that made it', async () => {
    const { key, keyId } = await api.key(account.id);
    await invite(key);
    const successor = await rotate(await rotate(keyId));
    expect((await byKey(account.key, 'DELETE', `${KEYS}/${successor}`)).status).toBe(204);
    expect(await openOnes()).toEqual([]);
    expect(await accept()).toEqual([401, 401]);
  });

  it('ends when the key that made it expires', async () => {
    const { key, keyId } = await api.key(account.id);
    await invite(key);
    await api.test.database.models.apiKey.update({ where: { id: keyId }, data: { expiresAt: new Date() } });
    expect(await openOnes()).toEqual([]);
    expect(await accept()).toEqual([401, 401]);
  });

  it('stays when its owner stays one, and ends with the key that made it', async () => {
    const ada = await join('owner');
    const [key, other] = [await makeKey(ada.browser), await makeKey(ada.browser)];
    const [ended, kept] = [await invite(key), await invite(other)];
    expect((await lower(ada.id, 'owner')).status).toBe(200);
    expect(await openOnes()).toEqual([kept.id, ended.id]);
    const { body } = await byKey<{ api_keys: { id: string; last_four: string }[] }>(account.key, 'GET', KEYS);
    const id = body.api_keys.find(({ last_four: end }) => key.endsWith(end))?.id ?? '';
    expect((await byKey(account.key, 'DELETE', `${KEYS}/${id}`)).status).toBe(204);
    expect(await openOnes()).toEqual([kept.id]);
    const stored = await api.test.database.models.invitation.findMany({ where: { accountId: account.id } });
    expect(stored.map((one) => one.id)).toEqual([kept.id]);
  });
});
