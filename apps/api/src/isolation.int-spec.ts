import { SCOPES, type Scope } from '@millrace/contracts';
import { announceCatalogue, makeRecords, type OwnRecords } from './fixtures/own-records';
import { ADMIN_TOKEN, RunningApi, type TestAccount } from './fixtures/running-api';

/** What a route asks of its caller: a scope, nothing, a signature in its query, or one over its body. */
type Need = Scope | 'nothing' | 'signature' | 'signed body';

/** Every route of the public listener. One that is registered and not here fails the suite: say what it asks for. */
const PUBLIC: Record<string, Need> = {
  'POST /api/v2/jobs': 'jobs:write',
  'GET /api/v2/jobs': 'jobs:read',
  'GET /api/v2/jobs/:id': 'jobs:read',
  'GET /api/v2/jobs/:id/workflow': 'jobs:read',
  'GET /api/v2/jobs/:id/nodes': 'jobs:read',
  'GET /api/v2/jobs/:id/logs': 'jobs:read',
  'GET /api/v2/jobs/:id/events': 'jobs:read',
  'POST /api/v2/jobs/:id/cancel': 'jobs:write',
  'POST /api/v2/assets': 'assets:write',
  'POST /api/v2/assets/from-hash': 'assets:write',
  'HEAD /api/v2/assets/by-hash/:hash': 'assets:read',
  'GET /api/v2/assets/:id': 'assets:read',
  'DELETE /api/v2/assets/:id': 'assets:write',
  'GET /api/v2/assets/:id/content': 'assets:read',
  'POST /api/v2/uploads': 'assets:write',
  'GET /api/v2/uploads/:id': 'assets:write',
  'DELETE /api/v2/uploads/:id': 'assets:write',
  'POST /api/v2/uploads/:id/complete': 'assets:write',
  'PUT /upload-parts/:id/:number': 'signature',
  'GET /content/:id': 'signature',
  'GET /api/v2/openapi.json': 'nothing',
  'GET /api/v2/reference': 'nothing',
  'GET /platform/v1/openapi.json': 'nothing',
  'GET /platform/v1/account': 'usage:read',
  'GET /platform/v1/api-keys': 'keys:admin',
  'POST /platform/v1/api-keys': 'keys:admin',
  'POST /platform/v1/api-keys/:id/rotate': 'keys:admin',
  'DELETE /platform/v1/api-keys/:id': 'keys:admin',
  'GET /platform/v1/credits': 'usage:read',
  'GET /platform/v1/credits/ledger': 'usage:read',
  'GET /platform/v1/usage': 'usage:read',
  'GET /platform/v1/statements/:month': 'usage:read',
  'POST /platform/v1/top-ups': 'credits:write',
  'GET /platform/v1/top-ups/:id': 'usage:read',
  'POST /platform/v1/webhooks/stripe': 'signed body',
  'GET /platform/v1/deployments': 'jobs:read',
  'GET /platform/v1/deployments/:id': 'jobs:read',
};

/** Routes of the ops listener that ask for nothing; all others ask for the admin token. */
const OPEN_TO_OPERATORS = [
  'GET /admin/v1/openapi.json',
  'GET /health/live',
  'GET /health/startup',
  'GET /health/ready',
  'GET /metrics',
];

let api: RunningApi;
let owner: TestAccount;
let other: TestAccount;
let records: OwnRecords;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_STRIPE_SECRET_KEY: 'sk_test_never_used',
    MILLRACE_STRIPE_WEBHOOK_SECRET: 'whsec_of_a_test',
  });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  [owner, other] = await Promise.all([api.account(), api.account()]);
  records = await makeRecords(api, owner);
});
afterAll(() => api.close());

interface Seen {
  status: number;
  text: string;
}

/** Ask and read the answer; of a stream only its beginning is waited for. */
async function probe(origin: string, route: string, path: string, bearer: string | null): Promise<Seen> {
  const [method = ''] = route.split(' ');
  const headers: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  const response = await fetch(origin + path, { method, headers, redirect: 'manual' });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, text: '' };
  }
  return { status: response.status, text: await response.text() };
}

/** The path of a route with the ids of somebody's records in it, the owner's by default. */
function ownPath(route: string, { jobId, assetId, uploadId, keyId, deploymentId, topUpId, hash } = records): string {
  const [, pattern = ''] = route.split(' ');
  const ids: [prefix: string, id: string][] = [
    ['/api/v2/jobs', jobId],
    ['/api/v2/assets', assetId],
    ['/api/v2/uploads', uploadId],
    ['/upload-parts', uploadId],
    ['/content', assetId],
    ['/platform/v1/api-keys', keyId],
    ['/platform/v1/deployments', deploymentId],
    ['/platform/v1/top-ups', topUpId],
  ];
  const id = ids.find(([prefix]) => pattern.startsWith(prefix))?.[1];
  if (pattern.includes(':id') && id === undefined) throw new Error(`no record of the owner stands for ${route}`);
  return pattern
    .replace(':id', id ?? '')
    .replace(':hash', hash)
    .replace(':number', '1')
    .replace(':month', '2026-01');
}

const routesOf = (listener: 'public' | 'ops'): string[] =>
  api.listeners.routes[listener].list().map(({ method, path }) => `${method} ${path}`);
const scoped = Object.entries(PUBLIC).filter((entry): entry is [string, Scope] =>
  SCOPES.some((scope) => scope === entry[1]),
);
/** Everything that names the owner's records. */
const traces = (): string[] => [owner.id, ...Object.values(records as unknown as Record<string, string>)];

it('every route of the public listener is declared, and no other', () => {
  expect(routesOf('public').sort()).toEqual(Object.keys(PUBLIC).sort());
});

describe.each(scoped)('%s', (route, scope) => {
  it('refuses a caller without a credential, and one with a key that is none', async () => {
    for (const bearer of [null, 'mr_live_000000000000000000000000000000000000', other.key.slice(0, -1), ADMIN_TOKEN]) {
      const { status, text } = await probe(api.publicUrl, route, ownPath(route), bearer);
      expect(status).toBe(401);
      for (const trace of traces()) expect(text).not.toContain(trace);
    }
  });

  it(`refuses a key that has everything but ${scope}, and names it`, async () => {
    const { key } = await api.key(
      owner.id,
      SCOPES.filter((known) => known !== scope),
    );
    const { status, text } = await probe(api.publicUrl, route, ownPath(route), key);
    expect(status).toBe(403);
    if (!route.startsWith('HEAD')) expect(text).toContain(scope);
  });

  it("shows another account nothing of the owner's", async () => {
    const { status, text } = await probe(api.publicUrl, route, ownPath(route), other.key);
    if (/:(id|hash)/.test(route)) expect(status).toBe(404);
    // An answer may repeat the id that was asked for, and must tell nothing else.
    for (const trace of traces()) if (!ownPath(route).includes(trace)) expect(text).not.toContain(trace);
  });

  it("is not there for another account under the owner's deployment", async () => {
    if (!route.includes(' /api/')) return;
    const path = `/deployment/${records.deploymentId}${ownPath(route)}`;
    const { status } = await probe(api.publicUrl, route, path, other.key);
    expect(status).toBe(404);
  });
});

it.each(scoped)('%s lets a key through that has %s alone', async (route, scope) => {
  const account = await api.account();
  const own = await makeRecords(api, account);
  const { key, keyId } = await api.key(account.id, [scope]);
  const { status } = await probe(api.publicUrl, route, ownPath(route, { ...own, keyId }), key);
  expect([401, 403, 404, 500]).not.toContain(status);
});

const signed = Object.keys(PUBLIC).filter((route) => PUBLIC[route] === 'signature');

it.each(signed)('%s is worth nothing without its signature, or with that of another link', async (route) => {
  const form = { content_type: 'text/plain', file_path: 'x' };
  const { body } = await api.client(other.key).upload(Buffer.from('x'), form);
  for (const query of ['', new URL(body.url).search]) {
    expect((await probe(api.publicUrl, route, ownPath(route) + query, other.key)).status).toBe(403);
  }
});

it.each(Object.keys(PUBLIC).filter((route) => PUBLIC[route] === 'signed body'))(
  '%s is worth nothing without its signature, whoever asks',
  async (route) => {
    for (const bearer of [null, owner.key, ADMIN_TOKEN]) {
      expect((await probe(api.publicUrl, route, ownPath(route), bearer)).status).toBe(400);
    }
  },
);

it("every route of the admin API refuses whoever has no admin token, an account's key among them", async () => {
  const guarded = routesOf('ops').filter((route) => !OPEN_TO_OPERATORS.includes(route));
  expect(guarded.length).toBeGreaterThan(10);
  for (const route of guarded) {
    const path = (route.split(' ')[1] ?? '').replaceAll(/:\w+/g, records.jobId);
    for (const bearer of [null, owner.key, `${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(1)]) {
      expect([route, (await probe(api.opsUrl, route, path, bearer)).status]).toEqual([route, 401]);
    }
  }
  expect(routesOf('ops')).toEqual(expect.arrayContaining(OPEN_TO_OPERATORS));
});
