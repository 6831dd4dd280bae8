import { newId } from '@millrace/contracts';
import { McpClient, type ApiClient } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const SENDS = 3;
const ESTIMATES = 4;

let api: RunningApi;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_SENDS_PER_MINUTE: String(SENDS),
    MILLRACE_ESTIMATES_PER_MINUTE: String(ESTIMATES),
  });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
beforeEach(async () => {
  account = await api.account();
  client = api.client(account.key);
});
afterAll(() => api.close());

const json = { workflow: GRAPH };
const estimate = (by = client) => by.call('POST', '/platform/v1/estimates', { json });

describe('what an account asks for', () => {
  it('has the service call others a few times in a minute, by all ways together, and says when it goes on', async () => {
    const url = 'https://receiver.example.com/hook';
    const made = await client.call<{ id: string }>('POST', '/platform/v1/webhook-endpoints', { json: { url } });
    const endpoint = `/platform/v1/webhook-endpoints/${made.body.id}`;
    const send = (path: string) => client.call('POST', path);
    expect((await send(`${endpoint}/test`)).status).toBe(201);
    expect((await client.call('POST', `${endpoint}/replay`, { json: {} })).status).toBe(200);
    // What finds nothing counts all the same.
    expect((await send(`${endpoint}/messages/${newId()}/replay`)).status).toBe(404);
    const refused = await send('/platform/v1/export-destination/test');
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(refused.body.error.message).toMatch(
      /^There were more than 3 tests, replays and repeated deliveries in a minute, which is the limit; wait \d+ s\.$/,
    );
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['ratelimit-policy']).toMatch(/^"requests";q=\d+;w=60, "sends";q=3;w=60$/);
    expect(refused.headers['ratelimit']).toMatch(/^"requests";r=\d+;t=\d+, "sends";r=0;t=\d+$/);
    expect((await send('/platform/v1/exports/2026-01-01/deliver')).status).toBe(429);
    expect((await client.call('GET', endpoint)).status).toBe(200);
  });

  it('is an estimate less often than a request, also by the MCP server, and of each account alone', async () => {
    const agent = await McpClient.connect(`${api.publicUrl}/mcp`, account.key);
    try {
      for (let n = 1; n < ESTIMATES; n += 1) expect((await estimate()).status).toBe(200);
      expect(await agent.call('estimate_job', json)).toMatchObject({ isError: false });
      const refused = await agent.call('estimate_job', json);
      expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('rate_limited: ')]);
    } finally {
      await agent.close();
    }
    expect(await estimate()).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect((await client.submit(JSON.stringify(json))).status).toBe(201);
    expect((await estimate(api.client((await api.account()).key))).status).toBe(200);
  });
});
