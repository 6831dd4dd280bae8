import { RunningApi } from '../fixtures/running-api';
import { AdminModule } from '../admin.module';
import { METHODS, endpointsOfModule } from '../endpoints';
import { PublicModule } from '../public.module';
import { describeAdminApi } from './admin-document';
import { describeApi } from './api-document';
import type { OpenApiDocument } from './openapi-types';
import { describePlatformApi } from './platform-document';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
});
afterAll(() => api.close());

const served = endpointsOfModule(PublicModule);
const administered = endpointsOfModule(AdminModule);

/** Routes of the ops listener that every process has, described in docs/operations.md. */
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

describe('every registered route is in a document, and every document has registered routes only', () => {
  it('on the public listener', () => {
    const all = described(describeApi(served), describePlatformApi(served));
    // The router answers HEAD wherever it answers GET.
    const routes = registered(api.listeners.routes.public.list());
    const heads = all.filter((name) => name.startsWith('HEAD ') && !routes.includes(name));
    for (const head of heads) expect(routes).toContain(head.replace('HEAD', 'GET'));
    expect(routes).toEqual(all.filter((name) => !heads.includes(name)));
  });

  it('on the ops listener', () => {
    const routes = registered(api.listeners.routes.ops.list());
    expect(routes).toEqual([...described(describeAdminApi(administered)), ...OPERATIONS].sort());
  });
});

describe('a document is served', () => {
  it('to everybody on the public listener, and to operators on theirs', async () => {
    const platform = await api.client(null).call<OpenApiDocument>('GET', '/platform/v1/openapi.json');
    expect(platform.body.paths).toEqual(describePlatformApi(served).paths);
    const admin = await api.operator(null).call<OpenApiDocument>('GET', '/admin/v1/openapi.json');
    expect(admin.body.paths).toEqual(describeAdminApi(administered).paths);
  });

  it('never on the listener of the other', async () => {
    expect((await fetch(`${api.publicUrl}/admin/v1/openapi.json`)).status).toBe(404);
    expect((await fetch(`${api.opsUrl}/platform/v1/openapi.json`)).status).toBe(404);
  });
});

it('no listener names the software that it is built with', async () => {
  for (const origin of [api.publicUrl, api.opsUrl]) {
    for (const path of ['/metrics', '/admin/v1/accounts', '/platform/v1/openapi.json', '/nothing']) {
      const { headers } = await fetch(origin + path);
      expect([headers.get('x-powered-by'), headers.get('etag')]).toEqual([null, null]);
    }
  }
});
