import { RunningApi } from '../fixtures/running-api';

interface Token {
  id: string;
  pool: string;
  name: string;
  token?: string;
  expires_at: string | null;
  revoked_at: string | null;
}

let api: RunningApi;
let path: string;
beforeAll(async () => {
  api = await RunningApi.open();
  path = `/admin/v1/pools/${api.env.MILLRACE_POOL}/tokens`;
});
afterAll(() => api.close());

const create = (json: object) => api.operator().call<Token>('POST', path, { json });
const list = async (): Promise<Token[]> => (await api.operator().call<{ tokens: Token[] }>('GET', path)).body.tokens;

describe('worker tokens', () => {
  it('are shown once, listed without themselves, revoked, and all of it is in the audit log', async () => {
    const { status, body, headers } = await create({ name: 'a GPU at home' });
    expect({ status, cached: headers['cache-control'] }).toEqual({ status: 201, cached: 'no-store' });
    expect(body.token).toMatch(/^mrw_[A-Za-z0-9_-]{43}$/);
    const [listed] = await list();
    expect(listed).toMatchObject({ id: body.id, name: 'a GPU at home', revoked_at: null });
    expect(JSON.stringify(listed)).not.toContain(String(body.token));
    expect((await api.operator().call('DELETE', `${path}/${body.id}`)).status).toBe(204);
    const [revoked] = await list();
    expect(revoked?.revoked_at).not.toBeNull();
    // Again changes nothing.
    await api.operator().call('DELETE', `${path}/${body.id}`);
    expect((await list())[0]).toEqual(revoked);
    const log = await api.operator().call<object>('GET', `/admin/v1/audit-log?subject_id=${body.id}`);
    expect(JSON.stringify(log.body)).not.toContain(String(body.token));
    expect(log.body).toMatchObject({
      entries: [
        { action: 'worker_token.revoke' },
        { action: 'worker_token.revoke' },
        { action: 'worker_token.create', actor: 'admin', details: { name: 'a GPU at home' } },
      ],
    });
  });

  it('are refused with what is wrong', async () => {
    const wrong = await create({ name: '', expires_at: '2001-01-01T00:00:00Z' });
    expect(wrong).toMatchObject({
      status: 422,
      body: { error: { details: { fields: [{ field: 'name' }, { field: 'expires_at' }] } } },
    });
    const none = '/admin/v1/pools/no-such-pool/tokens';
    expect((await api.operator().call('POST', none, { json: { name: 'x' } })).status).toBe(404);
    expect((await api.operator().call('GET', none)).status).toBe(404);
    const { body } = await create({ name: 'of this pool' });
    expect((await api.operator().call('DELETE', `${none}/${body.id}`)).status).toBe(404);
    expect((await api.operator(null).call('GET', path)).status).toBe(401);
  });
});
