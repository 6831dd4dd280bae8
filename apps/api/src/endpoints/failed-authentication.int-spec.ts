import { newId } from '@millrace/contracts';
import { DeploymentStore } from '@millrace/deployments';
import type { ApiClient } from '@millrace/testing';
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

it('the self-hosted surface limits requests by address', async () => {
  const statusOf = async (address: string) => (await from(selfHosted.client(TOKEN), '/api/v2/jobs', address)).status;
  const burst = [];
  for (let i = 0; i < 6; i += 1) burst.push(await statusOf('198.51.100.1'));
  expect(burst.at(-1)).toBe(429);
  expect(await statusOf('198.51.100.2')).toBe(200);
});
