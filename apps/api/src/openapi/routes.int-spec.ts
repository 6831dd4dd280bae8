import { RunningApi } from '../fixtures/running-api';
import { describeAdminApi } from './admin-document';
import { describeApi } from './document';
import { METHODS, type OpenApiDocument } from './openapi-types';
import { describePlatformApi } from './platform-document';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
});
afterAll(() => api.close());

/** Routes of the ops listener that every process has; docs/operations.md tells of them. */
const OPERATIONS = ['GET /health/live', 'GET /health/startup', 'GET /health/ready', 'GET /metrics'];

function described(...documents: OpenApiDocument[]): string[] {
  return documents
    .flatMap(({ paths }) =>
      Object.entries(paths).flatMap(([path, item]) =>
        METHODS.filter((method) => item[method] !== undefined).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    )
    .sort();
}

function registered(routes: { method: string; path: string }[]): string[] {
  return routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).sort();
}

describe('every registered route is in a document, and every document tells of registered routes only', () => {
  it('on the public listener', () => {
    const all = described(describeApi(), describePlatformApi());
    // The router answers HEAD wherever it answers GET.
    const routes = registered(api.listeners.routes.public.list());
    const heads = all.filter((name) => name.startsWith('HEAD ') && !routes.includes(name));
    for (const head of heads) expect(routes).toContain(head.replace('HEAD', 'GET'));
    expect(routes).toEqual(all.filter((name) => !heads.includes(name)));
  });

  it('on the ops listener', () => {
    const routes = registered(api.listeners.routes.ops.list());
    expect(routes).toEqual([...described(describeAdminApi()), ...OPERATIONS].sort());
  });
});

describe('a document is served', () => {
  it('to everybody on the public listener, and to operators on theirs', async () => {
    const platform = await api.client(null).call<OpenApiDocument>('GET', '/platform/v1/openapi.json');
    expect(platform.body.paths).toEqual(describePlatformApi().paths);
    const admin = await api.operator(null).call<OpenApiDocument>('GET', '/admin/v1/openapi.json');
    expect(admin.body.paths).toEqual(describeAdminApi().paths);
  });

  it('never on the listener of the other', async () => {
    expect((await fetch(`${api.publicUrl}/admin/v1/openapi.json`)).status).toBe(404);
    expect((await fetch(`${api.opsUrl}/platform/v1/openapi.json`)).status).toBe(404);
  });
});

it('no listener tells what it is made of', async () => {
  for (const origin of [api.publicUrl, api.opsUrl]) {
    for (const path of ['/metrics', '/admin/v1/accounts', '/platform/v1/openapi.json', '/nothing']) {
      const { headers } = await fetch(origin + path);
      expect([headers.get('x-powered-by'), headers.get('etag')]).toEqual([null, null]);
    }
  }
});
