import { MEMBER_ROLES, newId, type MemberRole } from '@millrace/contracts';
import { endpointsOfModule, pathParametersOf, type Endpoint } from '../endpoints';
import { sessionIn } from '../fixtures/browser';
import { join } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';
import { PublicModule } from '../public.module';

const OWNERS: readonly MemberRole[] = ['owner'];
const MAKERS: readonly MemberRole[] = ['owner', 'developer'];
const READERS: readonly MemberRole[] = ['owner', 'developer', 'viewer'];
const BUYERS: readonly MemberRole[] = ['owner', 'finance'];
const ALL: readonly MemberRole[] = MEMBER_ROLES;

/**
 * Who of an account may do what: each route that asks for a credential, decided here by hand. One that is not here fails the suite. That
 * owners alone have the account itself erased, owner-rights.int-spec.ts shows.
 */
const DECISIONS: readonly [MayDo: readonly MemberRole[], routes: string][] = [
  [
    MAKERS,
    `POST /api/v2/jobs
     POST /api/v2/jobs/{id}/cancel
     POST /api/v2/batches
     POST /api/v2/batches/{id}/retry
     POST /api/v2/batches/{id}/cancel
     POST /platform/v1/estimates
     PUT /platform/v1/account/submission-defaults`,
  ],
  [
    READERS,
    `GET /api/v2/jobs
     GET /api/v2/jobs/{id}
     GET /api/v2/jobs/{id}/workflow
     GET /api/v2/jobs/{id}/logs
     GET /api/v2/jobs/{id}/nodes
     GET /api/v2/jobs/{id}/attempts
     GET /platform/v1/jobs/{id}
     GET /api/v2/jobs/{id}/events
     GET /api/v2/node-classes
     GET /api/v2/batches
     GET /api/v2/batches/{id}
     GET /api/v2/batches/{id}/jobs
     GET /api/v2/batches/{id}/results
     GET /api/v2/batches/{id}/outputs.zip
     GET /api/v2/batches/{id}/events
     POST /mcp
     GET /platform/v1/account/submission-defaults
     GET /platform/v1/deployments
     GET /platform/v1/deployments/{id}
     GET /platform/v1/deployments/{id}/changes
     GET /platform/v1/deployments/{id}/starts
     GET /platform/v1/deployments/{id}/versions
     GET /platform/v1/engine-classes`,
  ],
  [
    MAKERS,
    `POST /api/v2/assets
     POST /api/v2/assets/from-hash
     DELETE /api/v2/assets/{id}
     POST /api/v2/uploads
     GET /api/v2/uploads/{id}
     DELETE /api/v2/uploads/{id}
     POST /api/v2/uploads/{id}/complete
     POST /platform/v1/models
     POST /platform/v1/model-imports
     DELETE /platform/v1/models/{id}
     POST /platform/v1/models/{id}/complete`,
  ],
  [
    READERS,
    `GET /api/v2/assets
     HEAD /api/v2/assets/by-hash/{hash}
     GET /api/v2/assets/{id}
     GET /api/v2/assets/{id}/content
     GET /platform/v1/models
     GET /platform/v1/models/{id}`,
  ],
  [
    ALL,
    `GET /platform/v1/account
     GET /platform/v1/credits
     GET /platform/v1/credits/ledger
     GET /platform/v1/credits/alert
     GET /platform/v1/usage
     GET /platform/v1/statements/{month}
     GET /platform/v1/exports
     GET /platform/v1/exports/{day}/usage.csv.gz
     GET /platform/v1/exports/{day}/ledger.csv.gz
     GET /platform/v1/export-destination
     GET /platform/v1/export-deliveries
     GET /platform/v1/export-deliveries/{id}
     GET /platform/v1/top-ups/{id}
     GET /platform/v1/label-rules
     GET /platform/v1/label-use
     GET /platform/v1/spend`,
  ],
  [
    BUYERS,
    `PUT /platform/v1/spend/caps
     DELETE /platform/v1/spend/caps/{id}
     PUT /platform/v1/credits/alert
     POST /platform/v1/top-ups`,
  ],
  [
    MAKERS,
    `GET /platform/v1/account/access
     GET /platform/v1/account/export
     GET /platform/v1/audit
     GET /platform/v1/audit/export
     GET /platform/v1/api-keys
     POST /platform/v1/api-keys
     PATCH /platform/v1/api-keys/{id}
     DELETE /platform/v1/api-keys/{id}
     POST /platform/v1/api-keys/{id}/rotate
     GET /platform/v1/members
     GET /platform/v1/invitations
     PUT /platform/v1/export-destination
     PATCH /platform/v1/export-destination
     DELETE /platform/v1/export-destination
     POST /platform/v1/export-destination/test
     POST /platform/v1/exports/{day}/deliver
     PUT /platform/v1/label-rules
     DELETE /platform/v1/label-rules/{id}
     POST /platform/v1/erasures
     GET /platform/v1/erasures
     GET /platform/v1/erasures/{id}`,
  ],
  [
    OWNERS,
    `PATCH /platform/v1/account/access
     PATCH /platform/v1/members/{id}
     DELETE /platform/v1/members/{id}
     POST /platform/v1/invitations
     DELETE /platform/v1/invitations/{id}`,
  ],
  [
    MAKERS,
    `POST /platform/v1/deployments
     PATCH /platform/v1/deployments/{id}
     DELETE /platform/v1/deployments/{id}
     POST /platform/v1/deployments/{id}/start
     POST /platform/v1/deployments/{id}/stop
     POST /platform/v1/deployments/{id}/versions
     PATCH /platform/v1/deployments/{id}/versions/{version}
     DELETE /platform/v1/deployments/{id}/versions/{version}
     POST /platform/v1/deployments/{id}/rollback`,
  ],
  [
    READERS,
    `GET /platform/v1/webhook-endpoints
     GET /platform/v1/webhook-endpoints/{id}
     GET /platform/v1/webhook-endpoints/{id}/messages`,
  ],
  [
    MAKERS,
    `POST /platform/v1/webhook-endpoints
     PATCH /platform/v1/webhook-endpoints/{id}
     DELETE /platform/v1/webhook-endpoints/{id}
     POST /platform/v1/webhook-endpoints/{id}/rotate
     POST /platform/v1/webhook-endpoints/{id}/test
     POST /platform/v1/webhook-endpoints/{id}/messages/{message_id}/replay
     POST /platform/v1/webhook-endpoints/{id}/replay`,
  ],
  // Of whose sessions they speak, the handler decides.
  [
    ALL,
    `GET /platform/v1/session
     DELETE /platform/v1/session
     GET /platform/v1/sessions
     DELETE /platform/v1/sessions
     DELETE /platform/v1/sessions/{id}
     POST /platform/v1/sessions/end-others`,
  ],
];
const rolesOf = new Map(
  DECISIONS.flatMap(([roles, routes]) => routes.split('\n').map((route) => [route.trim(), roles] as const)),
);

const nameOf = ({ method, path }: Endpoint): string => `${method.toUpperCase()} ${path}`;
/** Routes whose caller is a person or a key of the account. The others have no credential, and isolation.int-spec.ts lists them. */
const asked = endpointsOfModule(PublicModule).filter(({ access }) => 'scope' in access || access.by === 'session');

let api: RunningApi;
let account: TestAccount;
let people = 0;
const sessions = {} as Record<MemberRole, string>;
const enter = async (role: MemberRole, into = account): Promise<string> =>
  (await join(api, into, role, `person-${(people += 1)}@example.com`)).session;

beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_STRIPE_SECRET_KEY: 'sk_test_never_used',
    MILLRACE_STRIPE_WEBHOOK_SECRET: 'whsec_of_a_test',
    // No process of this test sends mail.
    MILLRACE_MAIL_FOLDER: '/nonexistent',
  });
  account = await api.account();
  for (const role of MEMBER_ROLES) sessions[role] = await enter(role);
});
afterAll(() => api.close());

const VALUES: Record<string, string> = {
  hash: 'a'.repeat(64),
  number: '1',
  version: '1',
  month: '2026-01',
  day: '2026-01-31',
};

/** The path of an endpoint with ids that nothing has: who may ask is decided before anything is looked up. */
const pathOf = (endpoint: Endpoint): string =>
  pathParametersOf(endpoint).reduce(
    (path, [name, { record }]) => path.replace(`{${name}}`, record === undefined ? (VALUES[name] ?? '') : newId()),
    endpoint.path as string,
  );

const send = (session: string, method: string, path: string, body?: object): Promise<Response> =>
  fetch(api.publicUrl + path, {
    method,
    headers: {
      cookie: `millrace_session=${session}`,
      'millrace-console': '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** Ask as somebody. What only owners do is asked with a body: its handler decides, after the body was read. */
async function statusOf(endpoint: Endpoint, role: MemberRole): Promise<number> {
  const { access, method, example } = endpoint;
  // Such a request may end every session of its account.
  const session = access.by === 'session' && method !== 'get' ? await enter(role, await api.account()) : sessions[role];
  const body = rolesOf.get(nameOf(endpoint)) === OWNERS ? example : undefined;
  const { status, body: content } = await send(session, method.toUpperCase(), pathOf(endpoint), body);
  await content?.cancel();
  return status;
}

it('each route that asks for a credential is decided for each role, and nothing else is', () => {
  expect([...rolesOf.keys()].sort()).toEqual(asked.map(nameOf).sort());
});

it.each(asked.map((endpoint): [string, Endpoint] => [nameOf(endpoint), endpoint]))(
  '%s is for the roles that may, and refused to the others',
  async (name, endpoint) => {
    for (const role of MEMBER_ROLES) {
      const status = await statusOf(endpoint, role);
      if (rolesOf.get(name)?.includes(role) !== true) expect([role, status]).toEqual([role, 403]);
      else expect([401, 403, 500].map((refused) => [role, refused])).not.toContainEqual([role, status]);
    }
  },
);

it('a finance member sets and lifts a cap, and developers and viewers only read it', async () => {
  const caps = '/platform/v1/spend/caps';
  const cap = { scope: 'account', daily_micros: 5_000_000 };
  for (const session of [sessions.viewer, sessions.developer]) {
    const refused = await send(session, 'PUT', caps, cap);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('credits:write')]);
  }
  const set = await send(sessions.finance, 'PUT', caps, cap);
  expect(set.status).toBe(200);
  const { id } = (await set.json()) as { id: string };
  const read = await send(sessions.viewer, 'GET', '/platform/v1/spend');
  expect(await read.json()).toMatchObject({ spend_caps: [{ id, daily_micros: 5_000_000 }] });
  expect((await send(sessions.developer, 'DELETE', `${caps}/${id}`)).status).toBe(403);
  expect((await send(sessions.finance, 'DELETE', `${caps}/${id}`)).status).toBe(204);
});

it('a key that only buys credits neither sets nor lifts a cap, not even in a session that it opens', async () => {
  const caps = '/platform/v1/spend/caps';
  const cap = { scope: 'account', daily_micros: 5_000_000 };
  const { body: set } = await api.client(account.key).call<{ id: string }>('PUT', caps, { json: cap });
  const json = { name: 'buys', scopes: ['credits:write', 'usage:read'] };
  const made = await api.client(account.key).call<{ key: string }>('POST', '/platform/v1/api-keys', { json });
  const buyer = api.client(made.body.key);
  for (const { status, text } of [
    await buyer.call('PUT', caps, { json: { ...cap, daily_micros: 500_000_000 } }),
    await buyer.call('DELETE', `${caps}/${set.id}`),
  ])
    expect([status, text]).toEqual([403, expect.stringContaining('Spend caps are set by owners')]);
  const session = sessionIn(
    await api.client(null).call('POST', '/platform/v1/sessions', { json: { api_key: made.body.key } }),
  );
  expect((await send(session, 'DELETE', `${caps}/${set.id}`)).status).toBe(403);
  expect((await api.client(account.key).call('DELETE', `${caps}/${set.id}`)).status).toBe(204);
});
