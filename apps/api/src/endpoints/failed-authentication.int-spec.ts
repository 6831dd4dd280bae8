import { OperatorSessionStore, OperatorTokenStore, SecretMint, SessionStore } from '@millrace/accounts';
import { newId } from '@millrace/contracts';
import { DeploymentStore } from '@millrace/deployments';
import { KeyRing, type KeyUse } from '@millrace/platform';
import type { ApiClient } from '@millrace/testing';
import { SignedInBrowser } from '../fixtures/browser';
import { announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

const LIMIT = 5;
const TOKEN = 'the-one-token';
const common = { MILLRACE_FAILED_AUTH_PER_MINUTE: String(LIMIT), MILLRACE_TRUSTED_PROXIES: '1' };

let cloud: RunningApi;
let selfHosted: RunningApi;
beforeAll(async () => {
  cloud = await RunningApi.open({ ...common, MILLRACE_OPS_TRUSTED_PROXIES: '1' });
  selfHosted = await RunningApi.open({
    ...common,
    MILLRACE_SURFACE: 'self_hosted',
    MILLRACE_TOKEN: TOKEN,
    MILLRACE_RATE_LIMIT_PER_MINUTE: '4',
  });
});
afterAll(() => Promise.all([cloud.close(), selfHosted.close()]));

const from = (client: ApiClient, path: string, address: string) =>
  client.call('GET', path, { headers: { 'X-Forwarded-For': address } });

/** Statuses of one more wrong credential than the limit, and the seconds to wait that the last answer names. */
async function attack(client: () => ApiClient, path: string, address: string): Promise<[number[], number]> {
  const answers = [];
  for (let i = 0; i <= LIMIT; i += 1) answers.push(await from(client(), path, address));
  return [answers.map(({ status }) => status), Number(answers.at(-1)?.headers['retry-after'])];
}
const REFUSED = [[...Array<number>(LIMIT).fill(401), 429], expect.any(Number)];

describe('credentials that are not valid', () => {
  it('are limited by address on the public listener, and a valid key behind it passes', async () => {
    const { key } = await cloud.account();
    const made = () => cloud.client('mr_live_nonsense');
    const answer = await attack(made, '/api/v2/jobs', '2001:db8:1:200::1');
    expect(answer).toEqual(REFUSED);
    expect(answer[1]).toBeGreaterThanOrEqual(1);
    expect((await from(made(), '/api/v2/jobs', '2001:db8:1:2ff:ffff::9')).status).toBe(429);
    expect((await from(made(), '/api/v2/jobs', '2001:db8:1:300::1')).status).toBe(401);
    expect((await from(cloud.client(key), '/api/v2/jobs', '2001:db8:1:200::1')).status).toBe(200);
  });

  it('are limited where they are exchanged for a session, together with all others', async () => {
    const address = '203.0.113.21';
    const headers = { 'X-Forwarded-For': address };
    const signIn = async (json: object): Promise<number> =>
      (await cloud.client(null).call('POST', '/platform/v1/sessions', { json, headers })).status;
    const statuses = [];
    for (const json of [{ api_key: 'x' }, { link: 'x' }, { api_key: 'mr_live_x' }]) statuses.push(await signIn(json));
    const cookie = { Cookie: 'millrace_session=x', ...headers };
    for (let i = 0; i < 3; i += 1) {
      statuses.push((await cloud.client(null).call('GET', '/api/v2/jobs', { headers: cookie })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await signIn({ api_key: 'x' })).toBe(429);
    expect(await signIn({ api_key: (await cloud.account()).key })).toBe(201);
  });

  it('and deployments that do not exist are limited together: they cause no more lookups', async () => {
    const find = jest.spyOn(DeploymentStore.prototype, 'find');
    const paths = Array.from({ length: 40 }, () => `/deployment/${newId()}/api/v2/jobs`);
    const answers = [];
    for (const path of paths) answers.push(await from(cloud.client(null), path, '203.0.113.9'));
    expect(answers[0]?.status).toBe(401);
    expect(answers.at(-1)?.status).toBe(429);
    // The limit, and those that are spared for a new valid one.
    expect(find.mock.calls.length).toBeLessThanOrEqual(LIMIT + 10);
    find.mockRestore();
  });

  it('are limited on the ops listener by the address of the connection, not by one that a client claims', async () => {
    const untrusting = await RunningApi.open(common);
    const addresses = Array.from({ length: LIMIT + 1 }, (_, at) => `203.0.113.${at}`);
    const statuses = [];
    for (const address of addresses) {
      statuses.push((await from(untrusting.operator('another-token-of-a-test'), '/admin/v1/workers', address)).status);
    }
    await untrusting.close();
    expect(statuses).toEqual(REFUSED[0]);
  });

  it('are limited on the ops listener, and the admin token passes', async () => {
    expect(await attack(() => cloud.operator('another-token-of-a-test'), '/admin/v1/workers', '203.0.113.7')).toEqual(
      REFUSED,
    );
    expect((await from(cloud.operator(), '/admin/v1/workers', '203.0.113.7')).status).toBe(200);
  });

  it('are limited on the self-hosted listener, and the token passes', async () => {
    expect(await attack(() => selfHosted.client('another-token'), '/api/v2/jobs', '203.0.113.7')).toEqual(REFUSED);
    expect((await from(selfHosted.client(TOKEN), '/api/v2/jobs', '203.0.113.7')).status).toBe(200);
  });
});

/** The look-ups of tagged secrets that find nothing, which a network has in a minute; then those end. */
const SPARE_TAGGED = 1_000;
const PRESENTED = SPARE_TAGGED + 50;

/** A secret that this service made, and that counts no more. */
function endedSecrets(use: KeyUse): () => string {
  const mint = new SecretMint(KeyRing.of(Buffer.from(cloud.env.MILLRACE_SECRET_KEY ?? '', 'base64')), use);
  return () => mint.make();
}

const headersOf = (address: string, more: Record<string, string>) => ({
  'X-Forwarded-For': address,
  'Millrace-Console': '1',
  ...more,
});

/** Present so many, one after the other. @returns the first status, the last one, and how many were looked up. */
async function present(lookUp: jest.SpyInstance, one: () => Promise<{ status: number }>): Promise<number[]> {
  lookUp.mockClear();
  const statuses: number[] = [];
  for (let n = 0; n < PRESENTED; n += 1) statuses.push((await one()).status);
  return [statuses[0] ?? 0, statuses.at(-1) ?? 0, lookUp.mock.calls.length];
}

describe('secrets that have ended are limited by address, and those that work pass beside them', () => {
  afterEach(() => jest.restoreAllMocks());

  it('sessions of the console', async () => {
    const { key } = await cloud.account();
    const address = '203.0.113.40';
    const neighbour = await SignedInBrowser.signIn(cloud.client(null), { api_key: key });
    const ask = (session: string) =>
      cloud.client(null).call('GET', '/platform/v1/session', {
        headers: headersOf(address, { Cookie: `millrace_session=${session}` }),
      });
    expect((await ask(neighbour.session)).status).toBe(200);
    const ended = endedSecrets('console sessions');
    const repeated = ended();
    const findHolder = jest.spyOn(SessionStore.prototype, 'findHolder');
    for (let n = 0; n < 10 * LIMIT; n += 1) expect((await ask(repeated)).status).toBe(401);
    expect(findHolder).toHaveBeenCalledTimes(1);
    expect(await present(findHolder, () => ask(ended()))).toEqual([401, 429, SPARE_TAGGED - 1]);
    expect((await ask(repeated)).status).toBe(401);
    expect((await ask(neighbour.session)).status).toBe(200);
  });

  it('sessions of operators', async () => {
    const ended = endedSecrets('operator sessions');
    const find = jest.spyOn(OperatorSessionStore.prototype, 'find');
    const ask = () =>
      cloud.operator(null).call('GET', '/admin/v1/session', {
        headers: headersOf('203.0.113.41', { Cookie: `millrace_operator=${ended()}` }),
      });
    expect(await present(find, ask)).toEqual([401, 429, SPARE_TAGGED]);
  });

  it('tokens of operators', async () => {
    const ended = endedSecrets('operator tokens');
    const use = jest.spyOn(OperatorTokenStore.prototype, 'use');
    const ask = (token: string) => from(cloud.operator(token), '/admin/v1/workers', '203.0.113.42');
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const made = await cloud.operator().call<{ token: string }>('POST', '/admin/v1/operator-tokens', {
      json: { name: 'b', role: 'reader', expires_at },
    });
    expect((await ask(made.body.token)).status).toBe(200);
    expect(await present(use, () => ask(`mrop_${ended()}`))).toEqual([401, 429, SPARE_TAGGED]);
    expect((await ask(made.body.token)).status).toBe(200);
  });
});

describe('of a deployment that is not theirs, nobody learns whether it exists', () => {
  const rows: [
    who: string,
    status: number,
    headers: (otherKey: string) => Record<string, string>,
    method?: 'GET' | 'POST',
  ][] = [
    ['without a key', 401, () => ({})],
    [
      'with a cookie that a page of another origin sends',
      403,
      () => ({ Cookie: `millrace_session=x`, 'Sec-Fetch-Site': 'cross-site' }),
      'POST',
    ],
    ['with the key of another account', 404, (key) => ({ Authorization: `Bearer ${key}` })],
    ['with a key that is not valid', 401, () => ({ Authorization: 'Bearer mr_live_nonsense' })],
    [
      'with a session that has ended',
      401,
      () => ({ Cookie: `millrace_session=${endedSecrets('console sessions')()}` }),
    ],
  ];

  it.each(rows)('%s', async (who, status, credential, method = 'GET') => {
    const [owner, other] = [await cloud.account(), await cloud.account()];
    const id = newId();
    const facts = { id, accountId: owner.id, name: 'idle', poolId: id, createdAt: new Date(0) };
    await announceCatalogue(cloud, id);
    await cloud.test.database.models.deployment.create({ data: facts });
    const address = (n: number): string => `198.18.${rows.findIndex(([name]) => name === who)}.${n}`;
    const statusesOf = async (which: string, from: string): Promise<number[]> => {
      const statuses: number[] = [];
      const headers = headersOf(from, credential(other.key));
      for (let n = 0; n < LIMIT + 15; n += 1) {
        const answer = await cloud.client(null).call(method, `/deployment/${which}/api/v2/jobs`, { headers });
        statuses.push(answer.status);
      }
      return statuses;
    };
    // The look-up of the session counts, too.
    const until = who.includes('session') ? LIMIT - 1 : LIMIT;
    const limited = Array.from({ length: LIMIT + 15 }, (_, n) => (n < until ? status : 429));
    expect(await statusesOf(newId(), address(1))).toEqual(limited);
    // For the first time, and when this process has seen it.
    expect(await statusesOf(id, address(2))).toEqual(limited);
    expect(await statusesOf(id, address(3))).toEqual(limited);
    // Its owner is served from there all the same.
    expect((await from(cloud.client(owner.key), `/deployment/${id}/api/v2/jobs`, address(3))).status).toBe(200);
  });
});

it('the self-hosted surface limits requests by address', async () => {
  const statusOf = async (address: string) => (await from(selfHosted.client(TOKEN), '/api/v2/jobs', address)).status;
  const burst = [];
  for (let i = 0; i < 6; i += 1) burst.push(await statusOf('198.51.100.1'));
  expect(burst.at(-1)).toBe(429);
  expect(await statusOf('198.51.100.2')).toBe(200);
});
