import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeHost } from './fixtures/fake-host';
import { json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

let service: StandInService;
let home: string;

beforeEach(async () => {
  service = await StandInService.start();
  service.on('GET /api/v2/jobs', json(200, { jobs: [] }));
  home = await mkdtemp(join(tmpdir(), 'millrace-home-'));
});

afterEach(async () => {
  await service.close();
  await rm(home, { recursive: true });
});

describe('millrace login', () => {
  it('keeps what it has checked, for its owner alone, and later commands use it', async () => {
    const host = new FakeHost({ homeDir: home });
    expect(await runCli(['login', '--url', service.url, '--api-key', 'mr_key'], host)).toBe(0);
    const path = join(home, '.config', 'millrace', 'config.json');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ url: service.url, apiKey: 'mr_key' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await runCli(['jobs', 'ls'], host)).toBe(0);
    const keys = service.requests('GET /api/v2/jobs').map(({ headers }) => headers.authorization);
    expect(keys).toEqual(['Bearer mr_key', 'Bearer mr_key']);
  });

  it('keeps it below XDG_CONFIG_HOME where that is set, and logout removes it', async () => {
    const host = new FakeHost({ homeDir: '/nonexistent', env: { XDG_CONFIG_HOME: home } });
    expect(await runCli(['login', '--url', service.url, '--api-key', 'mr_key'], host)).toBe(0);
    await stat(join(home, 'millrace', 'config.json'));
    expect(await runCli(['--json', 'logout'], host)).toBe(0);
    expect(await runCli(['--json', 'logout'], host)).toBe(0);
    expect(host.printed).toMatch(/"removed": true[^]*"removed": false/);
    expect(await runCli(['jobs', 'ls'], host)).toBe(2);
  });

  it('is not needed, nor is what was kept looked at, where flags and environment say everything', async () => {
    const env = { XDG_CONFIG_HOME: home, MILLRACE_API_KEY: 'mr_key' };
    await mkdir(join(home, 'millrace'));
    await writeFile(join(home, 'millrace', 'config.json'), '{}');
    expect(await runCli(['--url', service.url, 'jobs', 'ls'], new FakeHost({ env }))).toBe(0);
    const host = new FakeHost({ env });
    expect(await runCli(['jobs', 'ls'], host)).toBe(2);
    expect(host.noted).toContain('config.json holds no login.');
  });

  it('takes the key from standard input where there is no terminal', async () => {
    const host = new FakeHost({ homeDir: home, stdin: 'mr_piped\n' });
    expect(await runCli(['login', '--url', service.url], host)).toBe(0);
    expect(service.requests('GET /api/v2/jobs')[0]?.headers.authorization).toBe('Bearer mr_piped');
  });

  it('keeps nothing that the service refuses', async () => {
    service.on('GET /api/v2/jobs', refusal(401, 'unauthorized', 'The key is not known.'));
    const host = new FakeHost({ homeDir: home });
    expect(await runCli(['login', '--url', service.url, '--api-key', 'mr_wrong'], host)).toBe(3);
    await expect(stat(join(home, '.config'))).rejects.toThrow(/ENOENT/);
  });

  it('takes a key that may not list jobs for a key', async () => {
    service.on('GET /api/v2/jobs', refusal(403, 'forbidden', 'jobs:read is needed.'));
    expect(await runCli(['login', '--url', service.url, '--api-key', 'mr_key'], new FakeHost({ homeDir: home }))).toBe(
      0,
    );
  });

  it('says where it cannot keep what it has checked', async () => {
    const host = new FakeHost({ homeDir: '/nonexistent', env: { XDG_CONFIG_HOME: __filename } });
    expect(await runCli(['login', '--url', service.url, '--api-key', 'mr_key'], host)).toBe(2);
    expect(host.noted).toMatch(/A file cannot be used: .*login\.int-spec.*\n.*→ Check the path/);
  });
});
