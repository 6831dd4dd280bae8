import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@millrace/contracts';
import { FakeHost } from './fixtures/fake-host';
import { type Answer, json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const ID = newId();
const NEVER = (): void => undefined;

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = hostOf();
});
afterEach(() => service.close());

const hostOf = (): FakeHost =>
  new FakeHost({ env: { MILLRACE_URL: service.url, MILLRACE_OPS_URL: service.url, MILLRACE_ADMIN_TOKEN: 'token' } });
const millrace = (...args: string[]): Promise<number> => runCli(args, host);
const cut: Answer = (response) => void response.destroy();

/** Each kind of write, the command that makes it, and the one that shows whether it was done. */
const WRITES: [route: string, args: string, shown: string][] = [
  ['POST /platform/v1/api-keys', 'keys create ci', 'keys ls'],
  ['POST /platform/v1/api-keys/k1/rotate', 'keys rotate k1', 'keys ls'],
  ['DELETE /platform/v1/api-keys/k1', 'keys revoke k1', 'keys ls'],
  ['PATCH /platform/v1/account/access', 'keys rules set --allow-anywhere', 'keys rules'],
  ['POST /platform/v1/invitations', 'members invite a@example.com developer', 'members invitations'],
  ['DELETE /platform/v1/members/m1', 'members remove m1', 'members ls'],
  ['PUT /platform/v1/label-rules', 'labels limit user=ada --max-jobs 1', 'labels ls'],
  ['DELETE /platform/v1/spend/caps/c1', 'spend uncap c1', 'spend'],
  ['PUT /platform/v1/credits/alert', 'credits alert 5', 'credits alert'],
  ['DELETE /platform/v1/export-destination', 'exports rm', 'exports destination'],
  ['POST /platform/v1/exports/2026-11-22/deliver', 'exports deliver 2026-11-22', 'exports deliveries'],
  ['POST /platform/v1/export-destination/test', 'exports test', 'exports deliveries'],
  ['POST /platform/v1/deployments', 'deployments create d1 cpu', 'deployments ls'],
  ['POST /platform/v1/deployments/d1/rollback', 'deployments rollback d1', 'deployments versions d1'],
  ['POST /platform/v1/erasures', 'privacy erase-label user=ada', 'privacy erasures'],
  ['POST /platform/v1/webhook-endpoints', 'webhooks add https://example.com/', 'webhooks ls'],
  ['POST /platform/v1/webhook-endpoints/e1/test', 'webhooks test e1', 'webhooks deliveries e1'],
  ['POST /platform/v1/model-imports', 'models import https://example.com/a.safetensors loras', 'models ls'],
  ['PUT /platform/v1/account/submission-defaults', 'defaults set --reuse off', 'defaults'],
  [`DELETE /api/v2/assets/${ID}`, `assets rm ${ID}`, 'assets ls'],
  [`POST /api/v2/jobs/${ID}/cancel`, `jobs cancel ${ID}`, `jobs get ${ID}`],
  [`POST /api/v2/batches/${ID}/cancel`, `batch cancel ${ID}`, `batch show ${ID}`],
  ['POST /admin/v1/accounts', 'admin create-account Ada', 'admin audit-log'],
];

describe.each(WRITES)('%s, by millrace %s', (route, line, shown) => {
  const args = line.split(' ');
  const notKnown = new RegExp(`Whether it was done is not known.* See \`millrace ${shown}\`\\.`);
  beforeEach(() => service.on('GET /platform/v1/account/submission-defaults', json(200, {})));

  it('is waited for at Ctrl-C; a second one leaves at once and says what shows whether it was done', async () => {
    service.on(route, NEVER);
    const code = millrace(...args);
    // The command ends first where it is mistyped here.
    await Promise.race([service.asked(route), code]);
    host.pressCtrlC();
    expect(host.noted).toContain('Waiting for the answer; press Ctrl-C again to leave at once.');
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(host.noted).toMatch(notKnown);
  });

  it('says so too where its answer is lost, and names a command that there is', async () => {
    service.on(route, cut);
    expect(await millrace(...args)).toBe(6);
    expect(host.noted).toMatch(notKnown);
    host = hostOf();
    expect(await millrace(...shown.split(' '), '--help')).toBe(0);
    const verbs = shown.split(' ').filter((word) => !['d1', 'e1', ID].includes(word));
    expect(host.printed).toMatch(
      new RegExp(`^Usage: millrace ${verbs.map((verb) => `(\\w+\\|)?${verb}(\\|\\w+)?`).join(' ')} `),
    );
  });
});

describe('Ctrl-C during a write', () => {
  it('shows what came of it, such as the secret of a key', async () => {
    service.on('POST /platform/v1/api-keys', (response, request) => {
      host.pressCtrlC();
      return json(201, { id: 'k1', key: 'mr_secret' })(response, request);
    });
    expect(await millrace('keys', 'create', 'ci')).toBe(0);
    expect(host.printed).toBe('mr_secret\n');
  });

  it('ends what would send more, and has what was done', async () => {
    service.on(`DELETE /api/v2/assets/${ID}`, (response) => {
      host.pressCtrlC();
      response.writeHead(204).end();
    });
    expect(await millrace('--json', 'assets', 'rm', ID, newId())).toBe(130);
    expect(JSON.parse(host.printed)).toMatchObject({ deleted: [ID], failures: [{ code: 'interrupted' }] });
    expect(service.received).toHaveLength(1);
  });

  it('keeps what has arrived of a model, and says how its upload goes on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
    const file = join(folder, 'a.safetensors');
    writeFileSync(file, 'weights');
    service.on('POST /platform/v1/models', NEVER);
    const code = millrace('models', 'upload', file, 'loras');
    await service.asked('POST /platform/v1/models');
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(host.noted).toMatch(/what has arrived of .* is kept\.\n.*Run it again.*`millrace models ls`/);
    rmSync(folder, { recursive: true });
  });
});
