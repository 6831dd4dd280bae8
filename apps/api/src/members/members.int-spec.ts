import { SCOPES, newId, scopesOfRole, type MemberRole } from '@millrace/contracts';
import type { Mail } from '@millrace/mail';
import { sessionIn } from '../fixtures/browser';
import { join as joinAs, tokenIn, waitingMails } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Session {
  id: string;
  member: { id: string; email: string; role: string } | null;
  key: { id: string; scopes: string[] };
}
interface Listed {
  id: string;
  email: string;
  role: string;
}

const SESSIONS = '/platform/v1/sessions';
const MEMBERS = '/platform/v1/members';
const INVITATIONS = '/platform/v1/invitations';
const KEYS = '/platform/v1/api-keys';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_FAILED_AUTH_PER_MINUTE: '1000000',
    MILLRACE_ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000000',
    MILLRACE_TRUSTED_PROXIES: '1',
    MILLRACE_PUBLIC_URL: 'https://api.test',
    // No process of this test sends mail.
    MILLRACE_MAIL_FOLDER: '/nonexistent',
  });
});
beforeEach(async () => {
  account = await api.account();
  await api.test.database.models.mailMessage.deleteMany();
});
afterAll(() => api.close());

const mails = (): Promise<Mail[]> => waitingMails(api);
const as = <T>(session: string, method: string, path: string, json?: object) =>
  api.client(null).call<T>(method, path, {
    headers: { Cookie: `millrace_session=${session}`, 'Millrace-Console': '1' },
    ...(json && { json }),
  });
const owner = <T>(method: string, path: string, json?: object, key = account.key) =>
  api.client(key).call<T>(method, path, json && { json });
const exchange = (json: object, headers: Record<string, string> = {}) =>
  api.client(null).call<Session>('POST', SESSIONS, { json, headers });

/** An address is sent one invitation at a time: as if that had been long ago. */
const forgetMails = () => api.test.database.models.invitationMail.deleteMany();
let addresses = 0;
const newAddress = (): string => `person-${(addresses += 1)}@example.com`;

const join = (role: MemberRole, email = newAddress()) => joinAs(api, account, role, email);

describe('an invitation', () => {
  it('makes who has its mail a member, once, with the scopes of the role', async () => {
    const email = newAddress();
    const invited = await owner<Listed>('POST', INVITATIONS, { email: email.toUpperCase(), role: 'developer' });
    expect(invited).toMatchObject({ status: 201, body: { email, role: 'developer' } });
    const [mail, ...more] = await mails();
    expect([mail?.to, more]).toEqual([email, []]);
    expect(mail?.text).toContain(`https://api.test/console/#invitation=`);
    const token = tokenIn(mail);
    expect(invited.text).not.toContain(token);
    expect(JSON.stringify(await api.test.database.models.invitation.findMany())).not.toContain(token);
    const look = () => api.client(null).call('POST', `${SESSIONS}/offers`, { json: { invitation: token } });
    expect(await look()).toMatchObject({
      status: 200,
      body: { account: { id: account.id }, member: { email, role: 'developer' }, asked_here: false },
    });
    const accepted = await exchange({ invitation: token });
    expect(accepted).toMatchObject({ status: 201, body: { member: { email, role: 'developer' } } });
    expect(accepted.body.key.scopes).toEqual(scopesOfRole('developer'));
    expect(accepted.headers['set-cookie']).toMatch(/HttpOnly; SameSite=Strict/);
    expect((await exchange({ invitation: token })).status).toBe(401);
    expect((await look()).status).toBe(401);
    const { body } = await owner<{ members: Listed[] }>('GET', MEMBERS);
    expect(body.members).toMatchObject([{ email, role: 'developer' }]);
    expect((await owner<{ invitations: object[] }>('GET', INVITATIONS)).body.invitations).toEqual([]);
  });

  it('is refused when it was taken back or replaced, has expired, or was made up', async () => {
    const email = newAddress();
    const first = await owner<Listed>('POST', INVITATIONS, { email, role: 'owner' });
    await forgetMails();
    const second = await owner<Listed>('POST', INVITATIONS, { email, role: 'viewer' });
    const [replaced, last] = await mails();
    expect((await exchange({ invitation: tokenIn(replaced) })).status).toBe(401);
    expect((await owner('DELETE', `${INVITATIONS}/${first.body.id}`)).status).toBe(404);
    expect((await owner('DELETE', `${INVITATIONS}/${second.body.id}`)).status).toBe(204);
    expect((await exchange({ invitation: tokenIn(last) })).status).toBe(401);
    await forgetMails();
    await owner('POST', INVITATIONS, { email, role: 'viewer' });
    await api.test.database.models.invitation.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } });
    expect((await exchange({ invitation: tokenIn((await mails()).at(-1)) })).status).toBe(401);
    expect((await exchange({ invitation: 'a'.repeat(64) })).status).toBe(401);
    expect((await exchange({ invitation: 'a', api_key: account.key })).status).toBe(422);
    expect((await owner<{ members: Listed[] }>('GET', MEMBERS)).body.members).toEqual([]);
  });

  it('is for owners and keys with all scopes alone, not for members, and needs a service that sends mail', async () => {
    const narrow = await api.key(
      account.id,
      SCOPES.filter((scope) => scope !== 'credits:write'),
    );
    const json = { email: newAddress(), role: 'viewer' };
    expect((await owner('POST', INVITATIONS, json, narrow.key)).status).toBe(403);
    const developer = await join('developer');
    expect((await as(developer.session, 'POST', INVITATIONS, json)).status).toBe(403);
    expect((await as(developer.session, 'PATCH', `${MEMBERS}/${developer.id}`, { role: 'owner' })).status).toBe(403);
    expect((await owner('POST', INVITATIONS, { email: developer.email, role: 'owner' })).status).toBe(422);
    for (const email of ['ada', 'ada@', 'a b@example.com', 'a@example.com\r\nBcc: b@example.com', 'a@b@example.com']) {
      expect((await owner('POST', INVITATIONS, { email, role: 'viewer' })).status).toBe(422);
    }
    const silent = await RunningApi.open();
    const { key } = await silent.account();
    const refused = await silent.client(key).call('POST', INVITATIONS, { json });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('MILLRACE_MAIL_SMTP_URL')]);
    await silent.close();
  });
});

describe('a member', () => {
  it('has other scopes at once when their role changes, with their sessions and with their keys', async () => {
    const ada = await join('owner');
    const bob = await join('developer');
    const made = await as<{ key: string; member_id: string; parent_id: null; expires_at: null }>(
      bob.session,
      'POST',
      KEYS,
      {
        name: 'of bob',
      },
    );
    expect(made).toMatchObject({ status: 201, body: { member_id: bob.id, parent_id: null, expires_at: null } });
    expect((await as(ada.session, 'PATCH', `${MEMBERS}/${bob.id}`, { role: 'viewer' })).status).toBe(200);
    expect((await as(bob.session, 'GET', '/api/v2/jobs')).status).toBe(200);
    expect((await as(bob.session, 'GET', KEYS)).status).toBe(403);
    expect((await owner('GET', KEYS, undefined, made.body.key)).status).toBe(403);
    expect((await owner('GET', '/api/v2/jobs', undefined, made.body.key)).status).toBe(200);
  });

  it('is named in the history of a deployment, and in the audit log, by what they do in a session', async () => {
    const bob = await join('developer');
    const [id, poolId] = [newId(), `pool-${newId()}`];
    await api.test.database.models.pool.create({ data: { id: poolId, engine: 'cpu' } });
    await api.test.database.models.deployment.create({ data: { id, accountId: account.id, name: 'x', poolId } });
    const path = `/platform/v1/deployments/${id}`;
    expect((await as(bob.session, 'PATCH', path, { name: 'y' })).status).toBe(200);
    const { body } = await as<{ changes: { actor: string }[] }>(bob.session, 'GET', `${path}/changes`);
    expect(body.changes).toMatchObject([{ action: 'deployment.update', actor: `member:${bob.id}` }]);
    const log = await owner<{ entries: object[] }>('GET', `/platform/v1/audit?actor=member:${bob.id}`);
    expect(log.body.entries).toMatchObject([{ action: 'deployment.update', subject_id: id }]);
  });

  it('loses sessions, keys and links when removed, and nobody else does', async () => {
    const ada = await join('owner');
    const bob = await join('developer');
    const made = await as<{ id: string; key: string }>(bob.session, 'POST', KEYS, { name: 'of bob' });
    const sub = await api
      .client(made.body.key)
      .call<{ key: string }>('POST', KEYS, { json: { name: 'of a program', labels: { user: 'x' } } });
    const own = await as<{ id: string; key: string }>(ada.session, 'POST', KEYS, { name: 'of ada' });
    const status = async (key: string): Promise<number> => (await owner('GET', '/api/v2/jobs', undefined, key)).status;
    expect(await Promise.all([made, sub, own].map(({ body }) => status(body.key)))).toEqual([200, 200, 200]);
    expect((await as(ada.session, 'DELETE', `${MEMBERS}/${bob.id}`)).status).toBe(204);
    expect(await Promise.all([made, sub, own].map(({ body }) => status(body.key)))).toEqual([401, 401, 200]);
    expect((await as(bob.session, 'GET', '/api/v2/jobs')).status).toBe(401);
    expect((await as(ada.session, 'GET', '/api/v2/jobs')).status).toBe(200);
    expect(await status(account.key)).toBe(200);
    expect((await owner('DELETE', `${MEMBERS}/${bob.id}`)).status).toBe(404);
    // And can come again, as somebody new.
    await forgetMails();
    expect((await join('viewer', bob.email)).id).not.toBe(bob.id);
  });

  it('who is the last owner stays one, also when two owners remove each other at the same time', async () => {
    const ada = await join('owner');
    for (const [method, json] of [['DELETE'], ['PATCH', { role: 'viewer' }]] as const) {
      const refused = await owner(method, `${MEMBERS}/${ada.id}`, json);
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('last owner')]);
    }
    const bob = await join('owner');
    const both = await Promise.all([
      as(ada.session, 'DELETE', `${MEMBERS}/${bob.id}`),
      as(bob.session, 'DELETE', `${MEMBERS}/${ada.id}`),
    ]);
    const { body } = await owner<{ members: Listed[] }>('GET', MEMBERS);
    expect(body.members).toHaveLength(1);
    expect(both.filter(({ status }) => status === 204)).toHaveLength(1);
  });

  it('who rotates a key has it: it ends with them', async () => {
    await join('owner');
    const bob = await join('owner');
    const rotated = await as<{ id: string; key: string; member_id: string }>(
      bob.session,
      'POST',
      `${KEYS}/${account.keyId}/rotate`,
      { overlap_seconds: 3_600 },
    );
    expect(rotated).toMatchObject({ status: 201, body: { member_id: bob.id, parent_id: null } });
    await owner('DELETE', `${MEMBERS}/${bob.id}`);
    expect((await owner('GET', KEYS, undefined, rotated.body.key)).status).toBe(401);
    expect((await owner('GET', KEYS)).status).toBe(200);
  });

  it('has a key for sessions that nobody sees, rotates or revokes, and that no maximum age ends', async () => {
    const ada = await join('owner');
    const { body: session } = await as<Session>(ada.session, 'GET', '/platform/v1/session');
    const { body } = await owner<{ api_keys: { id: string }[] }>('GET', KEYS);
    expect(body.api_keys.map(({ id }) => id)).toEqual([account.keyId]);
    const path = `${KEYS}/${session.key.id}`;
    const statuses = await Promise.all([
      owner('DELETE', path),
      owner('POST', `${path}/rotate`, {}),
      owner('PATCH', path, { allowed_addresses: ['203.0.113.7'] }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404]);
    const database = api.test.database;
    await database.models.apiKey.updateMany({ where: { id: session.key.id }, data: { createdAt: new Date(0) } });
    expect((await owner('PATCH', '/platform/v1/account/access', { key_max_age_seconds: 3_600 })).status).toBe(200);
    expect((await as(ada.session, 'GET', KEYS)).status).toBe(200);
  });

  it('is in the log of acts by name: what was done to them, and what they did', async () => {
    const ada = await join('owner');
    const bob = await join('viewer');
    await as(ada.session, 'PATCH', `${MEMBERS}/${bob.id}`, { role: 'finance' });
    await as(ada.session, 'DELETE', `${MEMBERS}/${bob.id}`);
    const { body } = await api
      .operator()
      .call<{ entries: { actor: string; action: string; subject_id: string }[] }>(
        'GET',
        `/admin/v1/audit-log?account_id=${account.id}&limit=100`,
      );
    const of = body.entries.filter(({ subject_id: id }) => id === bob.id).map(({ actor, action }) => [actor, action]);
    const act = `member:${ada.id}`;
    expect(of).toEqual([
      [act, 'member.remove'],
      [act, 'member.update'],
      ['invitation', 'member.create'],
    ]);
  });
});

describe('sessions', () => {
  it('are listed and ended: by an owner those of all, by others their own', async () => {
    const ada = await join('owner');
    const bob = await join('viewer');
    const list = async (session: string) =>
      (
        await as<{ sessions: { id: string; current: boolean; member: { id: string } | null }[] }>(
          session,
          'GET',
          SESSIONS,
        )
      ).body.sessions;
    await exchange({ api_key: account.key });
    expect((await list(ada.session)).map(({ member }) => member?.id ?? null)).toEqual([null, bob.id, ada.id]);
    const [own, ...more] = await list(bob.session);
    expect([own, more]).toEqual([expect.objectContaining({ current: true }), []]);
    const [byKey, , first] = await list(ada.session);
    expect((await as(bob.session, 'DELETE', `${SESSIONS}/${first?.id}`)).status).toBe(404);
    expect((await as(ada.session, 'DELETE', `${SESSIONS}/${byKey?.id}`)).status).toBe(204);
    expect((await as(bob.session, 'DELETE', SESSIONS)).status).toBe(204);
    expect((await as(bob.session, 'GET', SESSIONS)).status).toBe(401);
    expect(await list(ada.session)).toHaveLength(1);
    await exchange({ api_key: account.key });
    expect((await as(ada.session, 'POST', `${SESSIONS}/end-others`)).status).toBe(204);
    expect(await list(ada.session)).toMatchObject([{ current: true }]);
  });

  it("of a member are those of all keys of theirs, however they signed in, and no other member's", async () => {
    const bob = await join('developer');
    const eve = await join('developer');
    const json = { name: 'of a program', scopes: ['jobs:read'] };
    const { body: made } = await as<{ key: string }>(bob.session, 'POST', KEYS, json);
    const byKey = async (): Promise<string> => sessionIn(await exchange({ api_key: made.key }));
    const count = async (session: string): Promise<number> =>
      (await as<{ sessions: object[] }>(session, 'GET', SESSIONS)).body.sessions.length;
    const lost = await byKey();
    expect([await count(bob.session), await count(lost), await count(eve.session)]).toEqual([2, 2, 1]);
    expect((await as(bob.session, 'POST', `${SESSIONS}/end-others`)).status).toBe(204);
    expect((await as(lost, 'GET', SESSIONS)).status).toBe(401);
    const again = await byKey();
    expect((await as(again, 'DELETE', SESSIONS)).status).toBe(204);
    expect((await as(bob.session, 'GET', SESSIONS)).status).toBe(401);
    expect(await count(eve.session)).toBe(1);
  });
});
