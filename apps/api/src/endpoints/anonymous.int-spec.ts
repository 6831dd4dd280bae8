import { newId } from '@millrace/contracts';
import { eventually, type ApiClient } from '@millrace/testing';
import { RunningApi } from '../fixtures/running-api';
import { StripeStandIn } from '../fixtures/stripe-stand-in';

const LIMIT = 4;
const LINKS_LIMIT = 10 * LIMIT;

let stripe: StripeStandIn;
let api: RunningApi;
beforeAll(async () => {
  stripe = await StripeStandIn.open();
  api = await RunningApi.open({
    ...stripe.env,
    MILLRACE_ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(LIMIT),
    MILLRACE_TRUSTED_PROXIES: '1',
    MILLRACE_OPS_TRUSTED_PROXIES: '1',
  });
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});

let addresses = 0;
const someAddress = (): string => `203.0.113.${(addresses += 1)}`;
const on = (listener: 'public' | 'ops'): ApiClient => (listener === 'public' ? api.client(null) : api.operator(null));
const link = 'account=00000000-0000-7000-8000-000000000002&expires=1&signature=x';

describe.each([
  ['public', 'GET', '/api/v2/openapi.json', LIMIT],
  ['public', 'GET', '/api/v2/reference', LIMIT],
  ['public', 'GET', '/platform/v1/openapi.json', LIMIT],
  ['ops', 'GET', '/admin/v1/openapi.json', LIMIT],
  ['public', 'POST', '/platform/v1/webhooks/stripe', LIMIT],
  ['public', 'GET', `/content/${newId()}?${link}`, LINKS_LIMIT],
  ['public', 'PUT', `/upload-parts/${newId()}/1?${link}`, LINKS_LIMIT],
] as const)('on the %s listener %s %s', (listener, method, path, limit) => {
  const ask = (address: string) => on(listener).call(method, path, { headers: { 'X-Forwarded-For': address } });

  it('is limited by address, and by no account', async () => {
    const address = someAddress();
    const beganMs = performance.now();
    let passed = 0;
    const refused = await eventually('a refusal', async () => {
      const answer = await ask(address);
      if (answer.status === 429) return answer;
      passed += 1;
      return null;
    });
    expect(passed).toBeGreaterThanOrEqual(limit);
    // The minute slides: who takes longer to ask may ask more often.
    expect(passed).toBeLessThanOrEqual(limit * (1 + (performance.now() - beganMs) / 60_000));
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await ask(someAddress())).status).not.toBe(429);
    const { key } = await api.account();
    const jobs = await api.client(key).call('GET', '/api/v2/jobs', { headers: { 'X-Forwarded-For': address } });
    expect(jobs.status).toBe(200);
  });
});

it.each([
  ['public', '/', 404],
  ['ops', '/health/live', 200],
  ['ops', '/health/ready', 200],
] as const)('on the %s listener %s answers probes however many they are', async (listener, path, status) => {
  const origin = listener === 'public' ? api.publicUrl : api.opsUrl;
  const answers = Array.from({ length: 3 * LIMIT }, () => fetch(origin + path));
  expect(new Set((await Promise.all(answers)).map((answer) => answer.status))).toEqual(new Set([status]));
});
