import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeHost } from './fixtures/fake-host';
import { assetOf } from './fixtures/sample-jobs';
import { type Answer, json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

let service: StandInService;
let host: FakeHost;
let folder: string;
let files: string[];
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url } });
  folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
  files = ['a', 'b', 'c'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, file);
});
afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const full = refusal(413, 'quota_exceeded', 'The account has no room.');
const gone: Answer = (response) => void response.writeHead(204).end();
const idOf = (nth: number): string => String(assetOf('', nth).id);
const printed = (): unknown => JSON.parse(host.printed);

describe('several things, of which one fails', () => {
  it('has the uploads before it in the document, and the failure beside them', async () => {
    service.on('POST /api/v2/assets', json(201, assetOf(service.url, 1)), full);
    expect(await runCli(['--json', 'assets', 'put', ...files], host)).toBe(3);
    expect(printed()).toMatchObject({ assets: [{ id: idOf(1) }], failures: [{ code: 'quota_exceeded', status: 413 }] });
    expect(host.noted).toContain('The account has no room.');
    expect(service.requests('POST /api/v2/assets')).toHaveLength(2);
  });

  it('has them also where Ctrl-C ends it', async () => {
    service.on('POST /api/v2/assets', json(201, assetOf(service.url, 1)), () => host.pressCtrlC());
    expect(await runCli(['--json', 'assets', 'put', ...files], host)).toBe(130);
    expect(printed()).toMatchObject({ assets: [{ id: idOf(1) }], failures: [{ code: 'interrupted' }] });
  });

  it.each([
    ['assets', 'rm', '/api/v2/assets/'],
    ['models', 'delete', '/platform/v1/models/'],
  ])('has what was deleted before it: %s %s', async (noun, verb, path) => {
    service.on(`DELETE ${path}${idOf(1)}`, gone);
    expect(await runCli(['--json', noun, verb, idOf(1), idOf(2), idOf(3)], host)).toBe(3);
    expect(printed()).toMatchObject({ deleted: [idOf(1)], failures: [{ code: 'not_found' }] });
    expect(service.received).toHaveLength(2);
  });

  it('prints each as it is done where it prints for people', async () => {
    service.on('POST /api/v2/assets', json(201, assetOf(service.url, 1)), full);
    expect(await runCli(['assets', 'put', ...files], host)).toBe(3);
    expect(host.printed).toMatch(new RegExp(`^ *${idOf(1)} .*\n$`));
  });
});

it('is the error alone where the first one fails', async () => {
  service.on('POST /api/v2/assets', full);
  expect(await runCli(['--json', 'assets', 'put', ...files], host)).toBe(3);
  expect(printed()).toMatchObject({ error: { code: 'quota_exceeded' } });
});

it('has no failures where all are done', async () => {
  service.on('POST /api/v2/assets', json(201, assetOf(service.url, 1)), json(201, assetOf(service.url, 2)));
  expect(await runCli(['--json', 'assets', 'put', ...files.slice(0, 2)], host)).toBe(0);
  expect(printed()).toMatchObject({ assets: [{ id: idOf(1) }, { id: idOf(2) }], failures: [] });
});
