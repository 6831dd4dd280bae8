import { SCOPES, type Scope } from '@millrace/contracts';
import { AdminModule } from './admin.module';
import { endpointsOfModule, pathParametersOf, type Access, type Endpoint } from './endpoints';
import { SignedInBrowser } from './fixtures/browser';
import { announceCatalogue, makeRecords, type OwnRecords } from './fixtures/own-records';
import { ADMIN_TOKEN, RunningApi, type TestAccount } from './fixtures/running-api';
import { PublicModule } from './public.module';

const served = endpointsOfModule(PublicModule);
const administered = endpointsOfModule(AdminModule);

/** Every endpoint that requires neither a key with a scope nor a token. One that is defined and not here fails the suite: add it knowingly. */
const WITHOUT_CREDENTIAL: Record<string, Access['by']> = {
  'PUT /upload-parts/{id}/{number}': 'signed_link',
  'GET /content/{id}': 'signed_link',
  'POST /platform/v1/webhooks/stripe': 'signed_body',
  'POST /platform/v1/sessions': 'nothing',
  'POST /platform/v1/sessions/offers': 'nothing',
  'GET /platform/v1/session': 'session',
  'POST /platform/v1/sessions/mails': 'nothing',
  'GET /platform/v1/sessions': 'session',
  'DELETE /platform/v1/sessions/{id}': 'session',
  'POST /platform/v1/sessions/end-others': 'session',
  'DELETE /platform/v1/session': 'session',
  'DELETE /platform/v1/sessions': 'session',
  'GET /api/v2/openapi.json': 'nothing',
  'GET /api/v2/reference': 'nothing',
  'GET /platform/v1/openapi.json': 'nothing',
  'GET /platform/v1/status': 'nothing',
  'GET /status': 'nothing',
  'GET /admin/v1/openapi.json': 'nothing',
  'GET /admin/v1/sign-in': 'nothing',
  'GET /admin/v1/sign-in/callback': 'nothing',
  'GET /admin/v1/sign-in/ways': 'nothing',
};

/** What owners alone do: their scope does not suffice, and a key with all scopes does. */
const OF_OWNERS = [
  'PATCH /platform/v1/account/access',
  'PATCH /platform/v1/members/{id}',
  'DELETE /platform/v1/members/{id}',
  'POST /platform/v1/invitations',
  'DELETE /platform/v1/invitations/{id}',
];

/**
 * What takes more scopes than that of its endpoint: a key that only buys credits does not lift a cap (`assertSetsCaps`), and one that manages
 * keys reads no archive of what it may not read elsewhere, and has none written to a bucket.
 */
const ALSO: Readonly<Record<string, readonly Scope[]>> = {
  'PUT /platform/v1/spend/caps': ['keys:admin'],
  'DELETE /platform/v1/spend/caps/{id}': ['keys:admin'],
  'GET /platform/v1/account/export': ['jobs:read', 'assets:read', 'usage:read', 'webhooks:read'],
  'PUT /platform/v1/export-destination': ['usage:read'],
  'PATCH /platform/v1/export-destination': ['usage:read'],
  'POST /platform/v1/export-destination/test': ['usage:read'],
  'POST /platform/v1/exports/{day}/deliver': ['usage:read'],
};

/** Routes of the ops listener that every process has, for probes and scrapers. */
const OF_EVERY_PROCESS = ['GET /health/live', 'GET /health/startup', 'GET /health/ready', 'GET /metrics'];

let api: RunningApi;
let owner: TestAccount;
let other: TestAccount;
let otherSession: string;
let records: OwnRecords;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_STRIPE_SECRET_KEY: 'sk_test_never_used',
    // Each endpoint is called with keys that are none, all from one address.
    MILLRACE_FAILED_AUTH_PER_MINUTE: '1000000',
    MILLRACE_STRIPE_WEBHOOK_SECRET: 'whsec_of_a_test',
    // Nobody reads it: no process of this test sends mail.
    MILLRACE_MAIL_FOLDER: '/nonexistent',
  });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  [owner, other] = await Promise.all([api.account(), api.account()]);
  ({ session: otherSession } = await SignedInBrowser.signIn(api.client(null), { api_key: other.key }));
  records = await makeRecords(api, owner);
});
afterAll(() => api.close());

interface Seen {
  status: number;
  text: string;
}

function probe(origin: string, endpoint: Endpoint, path: string, bearer: string | null): Promise<Seen> {
  return probeWith(bearer === null ? {} : { authorization: `Bearer ${bearer}` }, origin, endpoint, path);
}

/** Ask and read the answer; of a stream only its beginning is waited for. */
async function probeWith(
  headers: Record<string, string>,
  origin: string,
  { method }: Endpoint,
  path: string,
): Promise<Seen> {
  const response = await fetch(origin + path, { method: method.toUpperCase(), headers, redirect: 'manual' });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, text: '' };
  }
  return { status: response.status, text: await response.text() };
}

/** The path of an endpoint with the ids of somebody's records in it, the owner's by default. */
function ownPath(endpoint: Endpoint, own: OwnRecords = records): string {
  const ids: Record<string, string> = {
    job: own.jobId,
    batch: own.batchId,
    asset: own.assetId,
    upload: own.uploadId,
    'API key': own.keyId,
    deployment: own.deploymentId,
    'top-up': own.topUpId,
    'webhook endpoint': own.webhookEndpointId,
    'webhook message': own.webhookMessageId,
    'label rule': own.labelRuleId,
    'spend cap': own.spendCapId,
    'export delivery': own.exportDeliveryId,
    model: own.modelId,
    erasure: own.erasureId,
    member: own.memberId,
    invitation: own.invitationId,
    session: own.sessionId,
  };
  const others: Record<string, string> = {
    hash: own.hash,
    number: '1',
    version: '1',
    month: '2026-01',
    day: '2026-01-31',
  };
  return pathParametersOf(endpoint).reduce((path, [name, { record }]) => {
    const value = record === undefined ? others[name] : ids[record];
    if (value === undefined) throw new Error(`no record of the owner stands for ${name} of ${nameOf(endpoint)}`);
    return path.replace(`{${name}}`, value);
  }, endpoint.path as string);
}

const nameOf = ({ method, path }: Endpoint): string => `${method.toUpperCase()} ${path}`;
const routesOf = (listener: 'public' | 'ops'): string[] =>
  api.listeners.routes[listener].list().map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
const scoped = served.flatMap((endpoint): [string, Scope, Endpoint][] =>
  'scope' in endpoint.access ? [[nameOf(endpoint), endpoint.access.scope, endpoint]] : [],
);
const provenBy = (by: Access['by']): [string, Endpoint][] =>
  [...served, ...administered]
    .filter(({ access }) => access.by === by)
    .map((endpoint): [string, Endpoint] => [nameOf(endpoint), endpoint]);
/** Everything that names the owner's records. */
const traces = (): string[] => [owner.id, ...Object.values(records as unknown as Record<string, string>)];

/** One key of the owner for the same scopes, not for each endpoint: an account has a limited number of keys. */
const ownersKeys = new Map<string, string>();
async function ownersKey(scopes: readonly Scope[]): Promise<string> {
  const name = scopes.join(' ');
  const key = ownersKeys.get(name) ?? (await api.key(owner.id, scopes)).key;
  ownersKeys.set(name, key);
  return key;
}

describe('every route', () => {
  it('of the public listener is defined, and no other', () => {
    expect(routesOf('public').sort()).toEqual(served.map(nameOf).sort());
  });

  it('of the ops listener is defined, or of every process', () => {
    expect(routesOf('ops').sort()).toEqual([...administered.map(nameOf), ...OF_EVERY_PROCESS].sort());
  });

  it('without a credential is known', () => {
    const open = [...served, ...administered].filter(({ access }) => !('scope' in access) && access.by !== 'operator');
    expect(Object.fromEntries(open.map((endpoint) => [nameOf(endpoint), endpoint.access.by]))).toEqual(
      WITHOUT_CREDENTIAL,
    );
  });

  it('of the public listener that has a scope is not of the admin API', () => {
    expect(scoped.length).toBeGreaterThan(25);
    expect(served.filter(({ access }) => access.by === 'operator')).toEqual([]);
  });
});

describe.each(scoped)('%s', (_name, scope, endpoint) => {
  it('refuses a caller without a credential, and one with a key that is none', async () => {
    for (const bearer of [null, 'mr_live_000000000000000000000000000000000000', other.key.slice(0, -1), ADMIN_TOKEN]) {
      const { status, text } = await probe(api.publicUrl, endpoint, ownPath(endpoint), bearer);
      expect(status).toBe(401);
      for (const trace of traces()) expect(text).not.toContain(trace);
    }
  });

  it(`refuses a key that has everything but ${scope}, and names it`, async () => {
    const key = await ownersKey(SCOPES.filter((granted) => granted !== scope));
    const { status, text } = await probe(api.publicUrl, endpoint, ownPath(endpoint), key);
    expect(status).toBe(403);
    if (endpoint.method !== 'head') expect(text).toContain(scope);
  });

  it("shows another account nothing of the owner's", async () => {
    const { status, text } = await probe(api.publicUrl, endpoint, ownPath(endpoint), other.key);
    if (/\{(id|hash)\}/.test(endpoint.path)) expect(status).toBe(404);
    // An answer may repeat the id that was asked for, and nothing else of the owner's.
    for (const trace of traces()) if (!ownPath(endpoint).includes(trace)) expect(text).not.toContain(trace);
  });

  it("shows another account that is signed in to the console nothing of the owner's", async () => {
    const path = ownPath(endpoint);
    const cookie = { cookie: `millrace_session=${otherSession}` };
    const { status, text } = await probeWith({ ...cookie, 'millrace-console': '1' }, api.publicUrl, endpoint, path);
    if (/\{(id|hash)\}/.test(endpoint.path)) expect(status).toBe(404);
    for (const trace of traces()) if (!path.includes(trace)) expect(text).not.toContain(trace);
    const bare = await probeWith(cookie, api.publicUrl, endpoint, path);
    const isSafe = ['get', 'head'].includes(endpoint.method);
    expect(bare.status).toBe(isSafe ? status : 403);
  });

  it("is not there for another account under the owner's deployment", async () => {
    if (endpoint.access.by !== 'surface') return;
    const path = `/deployment/${records.deploymentId}${ownPath(endpoint)}`;
    const { status } = await probe(api.publicUrl, endpoint, path, other.key);
    expect(status).toBe(404);
  });
});

it.each(scoped)('%s lets a key through that has %s alone', async (_name, scope, endpoint) => {
  const name = nameOf(endpoint);
  const enough = OF_OWNERS.includes(name) ? SCOPES : [scope, ...(ALSO[name] ?? [])];
  const refusals = [401, 403, 404, 500];
  if (['get', 'head'].includes(endpoint.method)) {
    const { status } = await probe(api.publicUrl, endpoint, ownPath(endpoint), await ownersKey(enough));
    return expect(refusals).not.toContain(status);
  }
  // What changes records has an account of its own: they are the owner's in the other cases.
  const account = await api.account();
  const own = await makeRecords(api, account);
  const { key, keyId } = await api.key(account.id, enough);
  const { status } = await probe(api.publicUrl, endpoint, ownPath(endpoint, { ...own, keyId }), key);
  expect(refusals).not.toContain(status);
});

it.each(provenBy('signed_link'))(
  '%s is worth nothing without its signature, or with that of another link',
  async (_name, endpoint) => {
    const form = { content_type: 'text/plain', file_path: 'x' };
    const { body } = await api.client(other.key).upload(Buffer.from('x'), form);
    for (const query of ['', new URL(body.url).search]) {
      expect((await probe(api.publicUrl, endpoint, ownPath(endpoint) + query, other.key)).status).toBe(403);
    }
  },
);

it.each(provenBy('session'))('%s is for who is signed in alone', async (_name, endpoint) => {
  for (const bearer of [null, owner.key, ADMIN_TOKEN]) {
    expect((await probe(api.publicUrl, endpoint, ownPath(endpoint), bearer)).status).toBe(401);
  }
});

it.each(provenBy('session'))(
  "%s asked by another account's session shows and does nothing to the owner's",
  async (_name, endpoint) => {
    const { session } = await SignedInBrowser.signIn(api.client(null), { api_key: other.key });
    const path = ownPath(endpoint);
    const headers = { cookie: `millrace_session=${session}`, 'millrace-console': '1' };
    const { status, text } = await probeWith(headers, api.publicUrl, endpoint, path);
    const done = endpoint.method === 'get' ? 200 : 204;
    expect(status).toBe(endpoint.path.includes('{id}') ? 404 : done);
    for (const trace of traces()) if (!path.includes(trace)) expect(text).not.toContain(trace);
    const { consoleSession } = api.test.database.models;
    expect(await consoleSession.count({ where: { id: records.sessionId } })).toBe(1);
  },
);

it.each(provenBy('signed_body'))('%s is worth nothing without its signature', async (_name, endpoint) => {
  for (const bearer of [null, owner.key, ADMIN_TOKEN]) {
    expect((await probe(api.publicUrl, endpoint, ownPath(endpoint), bearer)).status).toBe(400);
  }
});

it.each(provenBy('operator'))(
  "%s refuses who has no admin token, an account's key among them",
  async (_name, endpoint) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, records.jobId);
    for (const bearer of [null, owner.key, `${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(1)]) {
      expect((await probe(api.opsUrl, endpoint, path, bearer)).status).toBe(401);
    }
  },
);
