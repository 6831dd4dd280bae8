import { OPERATOR_ROLES, roleCovers, type OperatorRole } from '@millrace/contracts';
import { type Answer } from '@millrace/testing';
import { AdminModule } from '../admin.module';
import { endpointsOfModule, type Endpoint } from '../endpoints';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

type Body = { error: { code: string; message: string; details?: { fields?: { field: string }[] } } };
interface Token {
  id: string;
  token: string;
}

const REASON = { 'Millrace-Reason': encodeURIComponent('Ticket 4711: größer als 50 %') };
const NOWHERE = '00000000-0000-7000-8000-000000000009';
const administered = endpointsOfModule(AdminModule).flatMap((endpoint) =>
  endpoint.access.by === 'operator' ? [{ endpoint, access: endpoint.access }] : [],
);

let api: RunningApi;
let account: TestAccount;
const tokens = {} as Record<OperatorRole, Token>;

beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_FAILED_AUTH_PER_MINUTE: '1000000' });
  account = await api.account();
  for (const role of OPERATOR_ROLES) tokens[role] = await make(`holder-of-${role}`, role);
});
afterAll(() => api.close());

async function make(name: string, role: OperatorRole, more: object = {}): Promise<Token> {
  const { status, body, text } = await api
    .operator()
    .call<Token>('POST', '/admin/v1/operator-tokens', { json: { name, role, ...more } });
  if (status !== 201) throw new Error(text);
  return body;
}

/** As an endpoint is asked by who has nothing to send. */
function ask(token: string, { method, path }: Endpoint, headers: Record<string, string> = {}): Promise<Answer<Body>> {
  const hasBody = method !== 'get' && method !== 'delete';
  const target = path.replaceAll(/\{\w+\}/g, NOWHERE);
  return api.operator(token).call<Body>(method.toUpperCase(), target, { headers, ...(hasBody ? { json: {} } : {}) });
}

const logOf = async (action: string): Promise<Record<string, unknown>[]> =>
  (await api.operator().call<{ entries: Record<string, unknown>[] }>('GET', `/admin/v1/audit-log?action=${action}`))
    .body.entries;

describe.each(administered)('$endpoint.id', ({ endpoint, access }) => {
  it.each(OPERATOR_ROLES)('lets the role %s in as its access says', async (role) => {
    const { status, body, text } = await ask(tokens[role].token, endpoint, REASON);
    if (roleCovers(role, access.role)) expect([401, 403, 500]).not.toContain(status);
    else {
      expect([status, body.error.code]).toEqual([403, 'forbidden']);
      expect(text).toContain(`the role ${access.role}`);
    }
  });

  it('asks an operator with a name why, where customers are concerned', async () => {
    const { status, body } = await ask(tokens.admin.token, endpoint);
    const fields = body.error?.details?.fields ?? [];
    const isAsked = status === 400 && fields.some(({ field }) => field === 'Millrace-Reason');
    expect(isAsked).toBe(access.reason === true);
  });

  it('is closed to a token that was made up', async () => {
    for (const made of [`mrop_${'A'.repeat(64)}`, 'mrop_', tokens.admin.token.slice(0, -1)]) {
      expect((await ask(made, endpoint, REASON)).status).toBe(401);
    }
  });
});

describe('an operator token', () => {
  it('is shown once, and kept as a hash', async () => {
    const { body, text } = await api.operator().call<{ tokens: object[] }>('GET', '/admin/v1/operator-tokens');
    expect(body.tokens).toHaveLength(OPERATOR_ROLES.length);
    for (const { token } of Object.values(tokens)) {
      expect(token).toMatch(/^mrop_[\w-]{64}$/);
      expect(text).not.toContain(token);
    }
    expect(JSON.stringify(await api.test.database.models.operatorToken.findMany())).not.toContain(tokens.admin.token);
  });

  it('stands by its name in the audit log, with the reason', async () => {
    const answer = await api
      .operator(tokens.operator.token)
      .call('PATCH', `/admin/v1/accounts/${account.id}`, { json: { running_limit: 3 }, headers: REASON });
    expect(answer.status).toBe(200);
    const [entry] = await logOf('account.update');
    expect(entry).toMatchObject({ actor: 'token:holder-of-operator', reason: 'Ticket 4711: größer als 50 %' });
  });

  it('has a name that no other gets, not at the same moment and not after its end', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        api.operator().call<Token>('POST', '/admin/v1/operator-tokens', { json: { name: 'only-one', role: 'viewer' } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422]);
    const { id } = answers.find(({ status }) => status === 201)?.body ?? { id: '' };
    expect((await api.operator().call('DELETE', `/admin/v1/operator-tokens/${id}`)).status).toBe(204);
    const again = await api
      .operator()
      .call<Body>('POST', '/admin/v1/operator-tokens', { json: { name: 'only-one', role: 'viewer' } });
    expect([again.status, again.body.error.details?.fields?.[0]?.field]).toEqual([422, 'name']);
  });

  it('and every session that was opened with it are refused once it is revoked or has expired', async () => {
    for (const end of ['revoke', 'expire'] as const) {
      const { id, token } = await make(`gone-by-${end}`, 'viewer');
      const signedIn = await api.operator(token).call<object>('POST', '/admin/v1/sessions');
      expect(signedIn.body).toMatchObject({ actor: `token:gone-by-${end}`, role: 'viewer' });
      const cookie = /^[^;]*/.exec(signedIn.headers['set-cookie'] ?? '')?.[0] ?? '';
      const headers = { Cookie: cookie, 'Millrace-Console': '1' };
      const bySession = async () => (await api.operator(null).call('GET', '/admin/v1/workers', { headers })).status;
      const byToken = async () => (await api.operator(token).call('GET', '/admin/v1/workers')).status;
      expect([await bySession(), await byToken()]).toEqual([200, 200]);
      if (end === 'revoke') await api.operator().call('DELETE', `/admin/v1/operator-tokens/${id}`);
      else await api.test.database.models.operatorToken.update({ where: { id }, data: { expiresAt: new Date(0) } });
      expect([await bySession(), await byToken()]).toEqual([401, 401]);
    }
  });

  it('gives its session its own role and no more', async () => {
    const signedIn = await api.operator(tokens.viewer.token).call('POST', '/admin/v1/sessions');
    const cookie = /^[^;]*/.exec(signedIn.headers['set-cookie'] ?? '')?.[0] ?? '';
    const headers = { Cookie: cookie, 'Millrace-Console': '1', ...REASON };
    const answer = await api
      .operator(null)
      .call('PATCH', `/admin/v1/accounts/${account.id}`, { json: { status: 'suspended' }, headers });
    expect(answer.status).toBe(403);
  });

  it('notes its last use', async () => {
    const { id, token } = await make('seldom-used', 'viewer');
    const lastUse = async () =>
      (await api.test.database.models.operatorToken.findUnique({ where: { id } }))?.lastUsedAt;
    expect(await lastUse()).toBeNull();
    await api.operator(token).call('GET', '/admin/v1/queues');
    expect(await lastUse()).not.toBeNull();
  });

  it.each([
    ['a name that could be taken for another', { name: 'Ada Byron', role: 'viewer' }, 'name'],
    ['a role that is none', { name: 'x-1', role: 'root' }, 'role'],
    ['an end in the past', { name: 'x-1', role: 'viewer', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['no end for ten years', { name: 'x-1', role: 'viewer', expires_at: '2099-01-01T00:00:00Z' }, 'expires_at'],
  ])('is not made with %s', async (_, json, field) => {
    const { status, body } = await api.operator().call<Body>('POST', '/admin/v1/operator-tokens', { json });
    expect([status, body.error.details?.fields?.[0]?.field]).toEqual([422, field]);
  });
});

describe('a reason', () => {
  it.each([
    ['that is no UTF-8', '100%'],
    ['that is empty', '%20'],
    ['that is too long', 'x'.repeat(501)],
  ])('%s is refused from any operator', async (_, reason) => {
    const { status, body } = await api
      .operator()
      .call<Body>('GET', '/admin/v1/queues', { headers: { 'Millrace-Reason': reason } });
    expect([status, body.error.details?.fields?.[0]?.field]).toEqual([400, 'Millrace-Reason']);
  });
});
