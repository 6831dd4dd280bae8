import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeHost } from './fixtures/fake-host';
import { assetOf, JOB_ID, JOB_PATH, jobOf, outputOf } from './fixtures/sample-jobs';
import { type Answer, bytes, events, json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const CONTENT = Buffer.from('a picture');

/** The address that the reader gave, and the service that it redirects to. */
let old: StandInService;
let service: StandInService;
let host: FakeHost;
let folder: string;
let file: string;
beforeEach(async () => {
  [old, service] = [await StandInService.start(), await StandInService.start()];
  folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
  file = join(folder, 'graph.json');
  writeFileSync(file, '{}');
  const ops = { MILLRACE_OPS_URL: old.url, MILLRACE_ADMIN_TOKEN: 'token' };
  host = new FakeHost({ env: { MILLRACE_URL: old.url, MILLRACE_API_KEY: 'mr_key', XDG_CONFIG_HOME: folder, ...ops } });
});
afterEach(async () => {
  await Promise.all([old.close(), service.close()]);
  rmSync(folder, { recursive: true });
});

/** As a proxy that leads to https or to www: each path to the same one there. */
const moved: Answer = (response, { path }) => void response.writeHead(308, { location: `${service.url}${path}` }).end();
const to =
  (location: string): Answer =>
  (response) =>
    void response.writeHead(302, { location }).end();
const millrace = (...args: string[]): Promise<number> => runCli(args, host);

describe('a service at another address', () => {
  const ID = outputOf('', 1, CONTENT).id;

  it.each<[string, string, () => string[]]>([
    ['login', 'GET /api/v2/jobs', () => ['login', '--url', old.url, '--api-key', 'mr_key']],
    ['a read', 'GET /api/v2/jobs', () => ['jobs', 'ls']],
    ['submit', 'POST /api/v2/jobs', () => ['submit', file]],
    ['an upload', 'POST /api/v2/assets', () => ['assets', 'put', file]],
    ['a write', 'POST /platform/v1/api-keys', () => ['keys', 'create', 'ci']],
    ['a delete', `DELETE /api/v2/assets/${ID}`, () => ['assets', 'rm', ID]],
    ['a download', 'GET /platform/v1/account/export', () => ['privacy', 'export', '--out', join(folder, 'a.zip')]],
    ['a batch', 'POST /api/v2/batches', () => ['batch', 'submit', file]],
    ['an estimate', 'POST /platform/v1/estimates', () => ['estimate', file]],
    ['admin', 'POST /admin/v1/accounts/a1/credits', () => ['admin', 'grant', 'a1', '5', 'gift']],
  ])('is named to %s, which asks once and sends no key there', async (_what, route, args) => {
    old.on(route, moved);
    expect(await millrace('--json', ...args())).toBe(6);
    expect(JSON.parse(host.printed)).toMatchObject({
      error: {
        code: 'redirected',
        message: `${old.url} redirects to ${service.url}.`,
        cure: expect.stringContaining(`millrace login --url ${service.url}`) as string,
      },
    });
    expect([old.requests(route).length, service.received]).toEqual([1, []]);
    expect(host.noted).not.toMatch(/is not known|unauthorized/);
  });

  it('is named without the path of a deployment twice', async () => {
    host = new FakeHost({ env: { ...host.env, MILLRACE_URL: `${old.url}/deployment/d1` } });
    old.on('GET /deployment/d1/api/v2/jobs', moved).on('GET /platform/v1/api-keys', moved);
    for (const args of [
      ['jobs', 'ls'],
      ['keys', 'ls'],
    ])
      expect(await millrace(...args)).toBe(6);
    expect(host.noted.match(new RegExp(`redirects to ${service.url}/deployment/d1\\.\n`, 'g'))).toHaveLength(2);
  });

  it('ends the watching of a job, which goes on', async () => {
    old.on(`GET ${JOB_PATH}`, json(200, jobOf()), moved).on(`GET ${JOB_PATH}/events`, events([], 'end'));
    expect(await millrace('watch', JOB_ID)).toBe(6);
    expect(host.noted).toContain(`redirects to ${service.url}`);
    expect(host.noted).toContain(`The job itself continues. Watch it again: millrace watch ${JOB_ID}`);
  });
});

describe('a redirect that leads elsewhere', () => {
  it.each([
    ['a page to sign in', () => `${service.url}/sign-in?next=secret`, () => `${service.url}/sign-in.`],
    ['itself, without end', () => '/api/v2/jobs', () => `${old.url}/api/v2/jobs.`],
  ])('such as %s is shown', async (_what, location, shown) => {
    old.on('GET /api/v2/jobs', to(location()));
    expect(await millrace('jobs', 'ls')).toBe(6);
    expect(host.noted).toMatch(/redirects this request to .*\n.*→ Check the address/);
    expect(host.noted).toContain(shown());
    expect([host.noted.includes('secret'), service.received]).toEqual([false, []]);
  });

  it('is followed by a read within the origin, with the key', async () => {
    old.on('GET /api/v2/jobs', to('/v2/jobs')).on('GET /v2/jobs', json(200, { jobs: [] }));
    expect(await millrace('jobs', 'ls')).toBe(0);
    expect(old.requests('GET /v2/jobs')[0]?.headers.authorization).toBe('Bearer mr_key');
  });

  it('is followed to the bytes of an asset, without the key', async () => {
    const { id, hash } = outputOf(old.url, 1, CONTENT);
    const asset = assetOf(old.url, 1, { hash, size_bytes: CONTENT.byteLength, file_path: 'p.png' });
    old.on(`GET /api/v2/assets/${id}`, json(200, asset)).on('GET /files/1', to(`${service.url}/bucket/p?signature=s`));
    service.on('GET /bucket/p', bytes(CONTENT));
    expect(await millrace('assets', 'get', id, '-o', join(folder, 'p.png'))).toBe(0);
    expect(readFileSync(join(folder, 'p.png'))).toEqual(CONTENT);
    expect(old.requests('GET /files/1')[0]?.headers.authorization).toBe('Bearer mr_key');
    expect(service.received[0]?.headers.authorization).toBeUndefined();
  });

  it('is followed to the bytes of an asset back to the address of the service, without the key', async () => {
    const { id, hash } = outputOf(service.url, 1, CONTENT);
    const asset = assetOf(service.url, 1, { hash, size_bytes: CONTENT.byteLength, file_path: 'p.png' });
    old.on(`GET /api/v2/assets/${id}`, json(200, asset)).on('GET /files/1', bytes(CONTENT));
    service.on('GET /files/1', to(`${old.url}/files/1`));
    expect(await millrace('assets', 'get', id, '-o', join(folder, 'p.png'))).toBe(0);
    expect(old.requests('GET /files/1').map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});
