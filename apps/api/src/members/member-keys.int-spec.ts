import { randomBytes } from 'node:crypto';
import { SCOPES, newId, type MemberRole } from '@millrace/contracts';
import { SignedInBrowser } from '../fixtures/browser';
import { join as joinAs } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const MEMBERS = '/platform/v1/members';
const KEYS = '/platform/v1/api-keys';

interface Made {
  id: string;
  key: string;
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
  const { id, session } = await joinAs(api, account, role, `keys-${(people += 1)}@example.com`);
  return { id, browser: new SignedInBrowser(api.client(null), session) };
};
const byKey = <T>(key: string, method: string, path: string, json?: object) =>
  api.client(key).call<T>(method, path, json && { json });
const statusOf = async (key: string): Promise<number> => (await byKey(key, 'GET', KEYS)).status;
const make = async (by: SignedInBrowser | string): Promise<Made> => {
  const json = { name: 'a key' };
  const { status, body } =
    typeof by === 'string' ? await byKey<Made>(by, 'POST', KEYS, json) : await by.call<Made>('POST', KEYS, { json });
  expect(status).toBe(201);
  return body;
};
const apiKeys = () => api.test.database.models.apiKey;
/** A key as a process of the version before writes it, which knows of no members. */
const plant = async (parentId: string | null): Promise<string> => {
  const id = newId();
  const data = { id, accountId: account.id, name: 'old', lastFour: '0000', scopes: [...SCOPES], parentId };
  await apiKeys().create({ data: { ...data, keyHash: randomBytes(32) } });
  return id;
};
const memberOf = async (id: string): Promise<string | null> =>
  (await apiKeys().findUniqueOrThrow({ where: { id } })).memberId;

it('who is removed takes along what their keys made, and what those made, also what somebody else has now', async () => {
  const [ada, bob] = [await join('owner'), await join('developer')];
  const own = await make(bob.browser);
  const child = await make(own.key);
  const grandchild = await make(child.key);
  const other = await make(ada.browser);
  // As if a process of the version before had made them.
  await apiKeys().updateMany({ where: { id: { in: [child.id, grandchild.id] } }, data: { memberId: null } });
  const taken = await ada.browser.call<Made>('POST', `${KEYS}/${grandchild.id}/rotate`, { json: {} });
  expect(taken.status).toBe(201);
  const session = await SignedInBrowser.signIn(api.client(null), { api_key: child.key });
  const kept = await make(account.key);
  const keys = [own, child, grandchild, taken.body, other, kept];
  const statuses = () => Promise.all(keys.map(({ key }) => statusOf(key)));
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
  expect((await byKey(account.key, 'DELETE', `${MEMBERS}/${bob.id}`)).status).toBe(204);
  expect(await statuses()).toEqual([401, 401, 401, 401, 200, 200]);
  expect((await session.call('GET', '/platform/v1/session')).status).toBe(401);
  expect(await api.test.database.models.consoleSession.count({ where: { apiKeyId: child.id } })).toBe(0);
});

it("what a member's key makes, or is replaced by, is the member's, whichever version of the service made it", async () => {
  const bob = await join('developer');
  const own = await make(bob.browser);
  const [child, successor, unrelated] = [await plant(own.id), await plant(null), await plant(account.keyId)];
  expect(await Promise.all([child, successor, unrelated].map(memberOf))).toEqual([bob.id, null, null]);
  await apiKeys().update({ where: { id: own.id }, data: { rotatedTo: successor } });
  await apiKeys().update({ where: { id: account.keyId }, data: { rotatedTo: unrelated } });
  expect(await Promise.all([child, successor, unrelated].map(memberOf))).toEqual([bob.id, bob.id, null]);
});
