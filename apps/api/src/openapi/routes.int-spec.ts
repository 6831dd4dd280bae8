import { newId } from '@millrace/contracts';
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

  it.each(['/api/v2/openapi.json', '/api/v2/reference', '/platform/v1/openapi.json'])(
    '%s with the name of its version, and not again to a client that has it',
    async (path) => {
      const first = await fetch(api.publicUrl + path);
      const etag = first.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
      expect(Number(first.headers.get('content-length'))).toBe((await first.arrayBuffer()).byteLength);
      // Not `fetch`: it adds `Cache-Control: no-cache`, which asks for the whole.
      const ask = (known: string) => api.client(null).call('GET', path, { headers: { 'If-None-Match': known } });
      expect(await ask(etag)).toMatchObject({ status: 304, text: '', headers: { etag } });
      const other = await ask('"another"');
      expect([other.status, other.text.length > 1_000]).toEqual([200, true]);
      const head = await fetch(api.publicUrl + path, { method: 'HEAD' });
      expect([head.status, head.headers.get('etag')]).toEqual([200, etag]);
    },
  );

  it('with another version for each surface that it names', async () => {
    const etags = ['', `/deployment/${newId()}`, `/deployment/${newId()}`].map(async (prefix) => {
      const { headers } = await fetch(`${api.publicUrl}${prefix}/api/v2/openapi.json`);
      return headers.get('etag');
    });
    expect(new Set(await Promise.all(etags)).size).toBe(3);
  });

  it('from one text for all: nothing is printed for each request', async () => {
    const stringify = jest.spyOn(JSON, 'stringify');
    await fetch(`${api.publicUrl}/api/v2/openapi.json`).then((answer) => answer.text());
    const printed = stringify.mock.results.map(({ value }) => String(value).length);
    stringify.mockRestore();
    expect(Math.max(0, ...printed)).toBeLessThan(10_000);
  });

  it('never on the listener of the other', async () => {
    expect((await fetch(`${api.publicUrl}/admin/v1/openapi.json`)).status).toBe(404);
    expect((await fetch(`${api.opsUrl}/platform/v1/openapi.json`)).status).toBe(404);
  });
});

it('no listener names the software that it is built with', async () => {
  for (const origin of [api.publicUrl, api.opsUrl]) {
    for (const path of ['/metrics', '/admin/v1/accounts', '/nothing']) {
      const { headers } = await fetch(origin + path);
      expect([headers.get('x-powered-by'), headers.get('etag')]).toEqual([null, null]);
    }
    for (const path of ['/api/v2/openapi.json', '/platform/v1/openapi.json', '/admin/v1/openapi.json']) {
      expect((await fetch(origin + path)).headers.get('x-powered-by')).toBeNull();
    }
  }
});
