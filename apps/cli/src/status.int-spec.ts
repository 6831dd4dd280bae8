import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeHost } from './fixtures/fake-host';
import { json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

let service: StandInService;
let folder: string;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  host = new FakeHost({ env: { MILLRACE_URL: service.url }, homeDir: folder });
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const AS_OF = '2026-11-21T06:23:00.000Z';
const millrace = (...args: string[]): Promise<number> => runCli(args, host);

describe('millrace status', () => {
  const component = (name: string, state: string, lastDay: number | null) => ({
    name,
    state,
    last_day: lastDay,
    last_30_days: 0.99999,
    days: [],
  });

  it('says how the service does, and rounds no share up to all', async () => {
    const components = [component('requests', 'operational', 0.9995), component('jobs', 'disrupted', null)];
    service.on('GET /platform/v1/status', json(200, { state: 'disrupted', as_of: AS_OF, components }));
    expect(await millrace('status')).toBe(1);
    expect(host.printed.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, '|'))).toEqual([
      'disrupted',
      'last 24 h|30 days',
      'requests|operational|99.95 %|99.99 %',
      'jobs|disrupted|–|99.99 %',
      expect.stringMatching(`^As of ${AS_OF}, \\d+ \\w+ ago\\.$`),
      '',
    ]);
  });

  it('succeeds while the service does less well than promised, or nothing is known of it', async () => {
    for (const state of ['operational', 'degraded', 'unknown']) {
      const components = [component('requests', state, 0.9)];
      service.on('GET /platform/v1/status', json(200, { state, as_of: AS_OF, components }));
      expect(await millrace('status')).toBe(0);
    }
  });

  it('says that there are no figures', async () => {
    service.on('GET /platform/v1/status', json(200, { state: 'unknown', as_of: null, components: [] }));
    expect(await millrace('status')).toBe(0);
    expect(host.printed).toBe('unknown\nThis service keeps no figures, or cannot read them now.\n');
  });
});
