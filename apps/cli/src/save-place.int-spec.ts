import { execFileSync } from 'node:child_process';
import {
  createReadStream,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FakeHost } from './fixtures/fake-host';
import { assetOf, outputOf } from './fixtures/sample-jobs';
import { bytes, json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const CONTENT = Buffer.from('a picture');

let service: StandInService;
let host: FakeHost;
let folder: string;
let id: string;
beforeEach(async () => {
  service = await StandInService.start();
  folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
  host = new FakeHost({ env: { MILLRACE_URL: service.url, XDG_CONFIG_HOME: folder } });
  const output = outputOf(service.url, 1, CONTENT);
  id = output.id;
  const asset = assetOf(service.url, 1, { hash: output.hash, size_bytes: CONTENT.byteLength, file_path: 'p.png' });
  service.on(`GET /api/v2/assets/${id}`, json(200, asset)).on('GET /files/1', bytes(CONTENT));
  service.on('GET /platform/v1/account/export', bytes(CONTENT)).on('GET /api/v2/jobs', json(200, { jobs: [] }));
});
afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

describe.each([
  ['an asset', (path: string) => ['assets', 'get', id, '-o', path]],
  ['a download', (path: string) => ['privacy', 'export', '--force', '--out', path]],
])('%s that is saved at', (what, args) => {
  it.each(['a file', 'a name without a file'])('a link to %s is in that place, and the link stays', async (behind) => {
    const [link, target] = [join(folder, 'link'), join(folder, 'there', 'file')];
    mkdirSync(join(folder, 'there'));
    symlinkSync(join('there', 'file'), link);
    if (behind === 'a file') writeFileSync(target, 'of before');
    expect(await runCli(args(link), host)).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target)).toEqual(CONTENT);
    expect(readdirSync(join(folder, 'there'))).toEqual(['file']);
    expect(host.printed).toContain(link);
  });

  it('a named pipe goes into it, and the pipe stays', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const saving = runCli(args(pipe), host);
    expect(await buffer(createReadStream(pipe))).toEqual(CONTENT);
    expect([await saving, lstatSync(pipe).isFIFO(), readdirSync(folder)]).toEqual([0, true, ['pipe']]);
  });

  it('a named pipe without a reader ends at Ctrl-C, and the pipe stays', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const saving = runCli(args(pipe), host);
    await service.asked(what === 'an asset' ? 'GET /files/1' : 'GET /platform/v1/account/export');
    host.pressCtrlC();
    expect([await saving, lstatSync(pipe).isFIFO(), readdirSync(folder)]).toEqual([130, true, ['pipe']]);
  });

  it('a device leaves it a device', async () => {
    // Not /dev/null itself: a defect would take it from the machine.
    const link = join(folder, 'null');
    symlinkSync('/dev/null', link);
    expect(await runCli(args(link), host)).toBe(0);
    expect([lstatSync(link).isSymbolicLink(), lstatSync('/dev/null').isCharacterDevice()]).toEqual([true, true]);
    expect(readdirSync(folder)).toEqual(['null']);
  });
});

it('an asset at /dev/stdout is on standard output alone, as at -', async () => {
  expect(await runCli(['assets', 'get', id, '-o', '/dev/stdout'], host)).toBe(0);
  expect(host.printed).toBe(CONTENT.toString());
});

it('a login behind a link is stored there, and the link stays', async () => {
  const [link, target] = [join(folder, 'millrace', 'config.json'), join(folder, 'dotfiles.json')];
  mkdirSync(join(folder, 'millrace'));
  symlinkSync(target, link);
  for (const key of ['mr_a', 'mr_b']) expect(await runCli(['login', '--api-key', key], host)).toBe(0);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, 'utf8')).toContain('mr_b');
});
