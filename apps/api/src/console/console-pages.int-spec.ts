import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { Client } from 'undici';
import { createTestFolder } from '@millrace/testing';
import { RunningApi } from '../fixtures/running-api';

const PAGE = '<!doctype html><title>Millrace</title>';
const SCRIPT = 'console.log("x".repeat(9))'.repeat(2_000);

let api: RunningApi;
let unbuilt: RunningApi;
let folder: Awaited<ReturnType<typeof createTestFolder>>;
let built: string;
let client: Client;
beforeAll(async () => {
  folder = await createTestFolder();
  built = join(folder.path, 'console');
  mkdirSync(join(built, 'assets'), { recursive: true });
  const script = join(built, 'assets', 'index-abc123.js');
  writeFileSync(join(built, 'index.html'), PAGE);
  writeFileSync(script, SCRIPT);
  writeFileSync(`${script}.br`, brotliCompressSync(SCRIPT));
  writeFileSync(`${script}.gz`, gzipSync(SCRIPT));
  writeFileSync(join(built, 'favicon.svg'), '<svg/>');
  writeFileSync(join(folder.path, 'outside.txt'), 'outside');
  const domain = { MILLRACE_DEPLOYMENT_DOMAIN: 'apps.example.com' };
  api = await RunningApi.open({ ...domain, MILLRACE_ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100' }, built);
  client = new Client(api.publicUrl);
  unbuilt = await RunningApi.open({}, join(folder.path, 'absent'));
});
afterAll(async () => {
  await client.close();
  await Promise.all([api.close(), unbuilt.close()]);
  await folder.drop();
});

/** Paths go out as they are written: `fetch` would resolve dots. */
async function get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const answer = await client.request({ path, method, headers });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

describe("the operators' console", () => {
  it('is on the ops listener alone, under the same policy, without the bucket', async () => {
    const ops = new Client(api.opsUrl);
    const at = async (path: string) => {
      const { statusCode, headers, body } = await ops.request({ path, method: 'GET' });
      return { status: statusCode, headers, text: await body.text() };
    };
    expect(await at('/console/ops')).toMatchObject({ status: 308, headers: { location: '/console/ops/' } });
    const page = await at('/console/ops/workers');
    expect([page.status, page.text]).toEqual([200, PAGE]);
    expect(page.headers['content-security-policy']).toContain("connect-src 'self';");
    expect(page.headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'");
    const script = await at('/console/ops/assets/index-abc123.js');
    expect(script.headers['cache-control']).toContain('immutable');
    expect((await at('/console/ops/assets/gone.js')).status).toBe(404);
    await ops.close();
  });
});

describe('the console', () => {
  it('is at its address with a slash, and leads there without one', async () => {
    expect(await get('/console')).toMatchObject({ status: 308, headers: { location: '/console/' } });
    expect(await get('/console?a=b')).toMatchObject({ status: 308, headers: { location: '/console/' } });
    const page = await get('/console/');
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(page.headers['cache-control']).toBe('no-cache');
    expect(page.bytes.toString()).toBe(PAGE);
  });

  it.each(['/console/jobs/0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', '/console/index.html', '/console/%zz'])(
    'shows its one page at %s',
    async (path) => {
      expect((await get(path)).bytes.toString()).toBe(PAGE);
    },
  );

  it('has files of the names that the build gave them, for ever and in the smallest form that the browser takes', async () => {
    const path = '/console/assets/index-abc123.js';
    const plain = await get(path);
    expect(plain.bytes.toString()).toBe(SCRIPT);
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    const br = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect([br.headers['content-encoding'], brotliDecompressSync(br.bytes).toString()]).toEqual(['br', SCRIPT]);
    const gzip = await get(path, { 'accept-encoding': 'gzip' });
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.bytes).toString()]).toEqual(['gzip', SCRIPT]);
    expect((await get(path, { 'accept-encoding': 'br;q=0' })).headers['content-encoding']).toBeUndefined();
  });

  it('answers HEAD with the same headers and no bytes', async () => {
    const head = await get('/console/favicon.svg', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, headers: { 'content-type': 'image/svg+xml', 'content-length': '6' } });
    expect(head.bytes.length).toBe(0);
  });

  it('is served under a policy that lets nothing run that is written into it', async () => {
    for (const path of ['/console/', '/console/assets/index-abc123.js']) {
      const { headers } = await get(path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:;");
      expect(policy).toContain("frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      });
    }
  });

  it.each(['/console/assets/index-gone.js', '/console/assets/index-abc123.js.br', '/console/assets/'])(
    'has nothing at %s, so that no page passes for a script',
    async (path) => {
      const { status, bytes } = await get(path);
      expect([status, bytes.toString()]).toEqual([404, expect.stringContaining('"not_found"')]);
    },
  );

  it.each([
    '/console/../outside.txt',
    '/console/..%2foutside.txt',
    '/console/%2e%2e/outside.txt',
    '/console//etc/passwd',
  ])('reads nothing outside of its folder: %s', async (path) => {
    expect((await get(path)).bytes.toString()).not.toMatch(/^outside|root:/);
  });

  it('takes nothing', async () => {
    expect(await get('/console/', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it('is not on the host of a deployment, nor on the ops listener', async () => {
    const host = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b.apps.example.com';
    expect((await get('/console/', { host })).status).toBe(404);
    expect((await api.operator().call('GET', '/console/')).status).toBe(404);
  });

  it.each(['/console/ops', '/console/ops/', '/console/ops/workers', '/console/%6fps/assets/index-abc123.js'])(
    "has nothing of the operators' console: %s",
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );

  it('is not there where it was not built', async () => {
    const { status, body } = await unbuilt.client(null).call('GET', '/console/');
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  it('counts its files by address, twenty for each request that needs no credential, and apart from these', async () => {
    const { status, headers } = await get('/console/');
    expect([status, headers['ratelimit-policy']]).toEqual([200, expect.stringMatching(/^"files";q=2000;/)]);
  });
});

it("allows the bucket's origin, where links to bytes lead", async () => {
  const bucket = {
    S3_BUCKET: 'bytes',
    S3_ENDPOINT: 'http://127.0.0.1:1',
    S3_PUBLIC_ENDPOINT: 'https://s3.example.com',
    S3_ACCESS_KEY_ID: 'a-key',
    S3_SECRET_ACCESS_KEY: 'a-secret',
  };
  const onBucket = await RunningApi.open({ ...bucket, MILLRACE_BLOB_DIR: '' }, built);
  const { headers } = await onBucket.client(null).call('GET', '/console/');
  await onBucket.close();
  const policy = String(headers['content-security-policy']);
  for (const source of ["img-src 'self' blob: data:", "media-src 'self' blob:", "connect-src 'self'"]) {
    expect(policy).toContain(`${source} https://s3.example.com;`);
  }
  expect(policy).toContain("script-src 'self';");
});
