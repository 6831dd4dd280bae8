import { mkdtemp, readFile, rm } from 'node:fs/promises';
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

const millrace = (...args: string[]): Promise<number> => runCli(args, host);

describe('millrace audit', () => {
  it('lists acts by filters, and saves them in the format that was asked for', async () => {
    service.on(
      'GET /platform/v1/audit',
      json(200, { entries: [{ id: 'e1', actor: 'operator' }], next_cursor: 'next' }),
    );
    expect(await millrace('audit', 'list', '--actor', 'operator', '--subject', 'k1', '--limit', '1')).toBe(0);
    expect(service.received[0]?.path).toBe('/platform/v1/audit?actor=operator&subject_id=k1&limit=1');
    expect([host.printed, host.noted]).toEqual([
      expect.stringContaining('operator'),
      expect.stringContaining('--cursor next'),
    ]);
    service.on('GET /platform/v1/audit/export', json(200, 'as it came'));
    const path = join(folder, 'audit.csv');
    expect(await millrace('audit', 'export', '--format', 'csv', '--from', '2026-11-01', '--out', path)).toBe(0);
    expect(service.received[1]?.path).toBe('/platform/v1/audit/export?from=2026-11-01&format=csv');
    expect(await readFile(path, 'utf8')).toBe('"as it came"');
  });

  it('looks on where nothing was found so far, and says that there is nothing once there is no more', async () => {
    service.on(
      'GET /platform/v1/audit',
      json(200, { entries: [], next_cursor: 'further' }),
      json(200, { entries: [], next_cursor: 'last' }),
      json(200, { entries: [{ id: 'e2', actor: 'member:m2' }], next_cursor: 'more' }),
    );
    expect(await millrace('audit', 'list', '--action', 'member.remove')).toBe(0);
    expect(service.received.map(({ path }) => path)).toEqual([
      '/platform/v1/audit?action=member.remove',
      '/platform/v1/audit?action=member.remove&cursor=further',
      '/platform/v1/audit?action=member.remove&cursor=last',
    ]);
    expect([host.printed, host.noted]).toEqual([
      expect.stringContaining('member:m2'),
      expect.stringContaining('--cursor more'),
    ]);
    service.on('GET /platform/v1/audit', json(200, { entries: [], next_cursor: 'last' }), json(200, { entries: [] }));
    expect(await millrace('audit', 'list', '--action', 'nothing')).toBe(0);
    expect(host.printed).toContain('No acts.');
    expect(host.noted.match(/--cursor/g)).toHaveLength(1);
  });
});
