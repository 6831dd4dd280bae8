import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@millrace/contracts';
import { FakeHost } from './fixtures/fake-host';
import { bytes, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const ID = newId();
const DOWNLOADS: [route: string, args: string[], mode: number][] = [
  ['GET /platform/v1/account/export', ['privacy', 'export'], 0o600],
  ['GET /platform/v1/audit/export', ['audit', 'export'], 0o600],
  ['GET /platform/v1/exports/2026-11-22/usage.csv.gz', ['exports', 'download', '2026-11-22'], 0o600],
  ['GET /admin/v1/accounts/a1/export', ['admin', 'export-account', 'a1'], 0o600],
  [`GET /api/v2/batches/${ID}/outputs.zip`, ['batch', 'download', ID], 0o644],
];

let service: StandInService;
let host: FakeHost;
let folder: string;
beforeEach(async () => {
  service = await StandInService.start();
  const env = { MILLRACE_URL: service.url, MILLRACE_OPS_URL: service.url, MILLRACE_ADMIN_TOKEN: 'token' };
  host = new FakeHost({ env });
  folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
});
afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

describe.each(DOWNLOADS)('a file that is saved: %s', (route, args, mode) => {
  it('replaces none that is there, and asks for nothing then, unless --force says so', async () => {
    const out = join(folder, 'saved');
    writeFileSync(out, 'of before');
    service.on(route, bytes(Buffer.from('new')));
    expect(await runCli([...args, '--out', out], host)).toBe(2);
    expect([readFileSync(out, 'utf8'), service.received]).toEqual(['of before', []]);
    expect(host.noted).toMatch(/There is a file at \S+saved already\.\n.*--out.*--force/);
    expect(await runCli([...args, '--out', out, '--force'], host)).toBe(0);
    expect([readFileSync(out, 'utf8'), readdirSync(folder)]).toEqual(['new', ['saved']]);
  });

  it('replaces none that comes while it is fetched', async () => {
    const out = join(folder, 'saved');
    service.on(route, (response, request) => {
      writeFileSync(out, 'of another');
      return bytes(Buffer.from('new'))(response, request);
    });
    expect(await runCli([...args, '--out', out], host)).toBe(2);
    expect([readFileSync(out, 'utf8'), readdirSync(folder)]).toEqual(['of another', ['saved']]);
  });

  it('can be read by those who should', async () => {
    const out = join(folder, 'saved');
    service.on(route, bytes(Buffer.from('new')));
    expect(await runCli([...args, '--out', out], host)).toBe(0);
    expect(statSync(out).mode & 0o777 & ~process.umask()).toBe(mode & ~process.umask());
  });
});
