import { FakeHost } from './fixtures/fake-host';
import { JOB_ID } from './fixtures/sample-jobs';
import { StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({
    env: { MILLRACE_URL: service.url, MILLRACE_OPS_URL: service.url, MILLRACE_ADMIN_TOKEN: 'token' },
  });
});
afterEach(() => service.close());

const millrace = (...args: string[]): Promise<number> => runCli(args, host);

describe('a verb with two names', () => {
  it.each(['keys', 'models', 'webhooks', 'jobs', 'batch', 'assets', 'labels', 'members', 'deployments', 'audit'])(
    'lists as ls and as list: %s',
    async (things) => {
      expect(await millrace(things, 'ls')).toBe(await millrace(things, 'list'));
      expect(new Set(service.received.map(({ path }) => path)).size).toBe(1);
      expect(service.received.length).toBeGreaterThan(1);
    },
  );

  it.each(['assets', 'models', 'webhooks', 'deployments', 'members'])(
    'deletes as rm, delete and remove: %s',
    async (things) => {
      for (const verb of ['rm', 'delete', 'remove']) await millrace(things, verb, JOB_ID);
      expect(service.received.map(({ method }) => method)).toEqual(['DELETE', 'DELETE', 'DELETE']);
    },
  );
});

it('a rebuild of a balance is shown with --dry-run, and done without it', async () => {
  const answer = JSON.stringify({ changed: true });
  service.on('POST /admin/v1/accounts/a1/credits/rebuild', (response) => void response.end(answer));
  expect(await millrace('admin', 'rebuild-balance', 'a1', '--dry-run')).toBe(0);
  expect(await millrace('admin', 'rebuild-balance', 'a1')).toBe(0);
  expect(service.received.map(({ body }) => body.toString())).toEqual(['{"dry_run":true}', '{}']);
});

it('usage says where there are more groups than are listed, and how to read all', async () => {
  const answer = JSON.stringify({ usage: [{ group: 'ada', jobs: 1 }], truncated: true });
  service.on('GET /platform/v1/usage', (response) => void response.end(answer));
  expect(await millrace('usage', '--group-by', 'label:user')).toBe(0);
  expect(host.noted).toContain('There are more groups than are listed: add --csv to read all.');
});

describe('the graph of a warm-up', () => {
  const graph = '{"1":{"class_type":"Show","inputs":{"seed":18446744073709551615,"cfg":7.0,"text":"\\u009b"}}}';
  const one = `{"id":"d1","warm_up":${graph}}`;

  it.each([
    ['get', 'GET /platform/v1/deployments/d1', one, ['d1']],
    ['update', 'PATCH /platform/v1/deployments/d1', one, ['d1', '--name', 'b']],
    ['stop', 'POST /platform/v1/deployments/d1/stop', one, ['d1']],
    ['ls', 'GET /platform/v1/deployments', `{"deployments":[${one}]}`, []],
    ['versions', 'GET /platform/v1/deployments/d1/versions', `{"versions":[${one}]}`, ['d1']],
  ])('is printed by deployments %s --json digit for digit', async (verb, route, answer, args) => {
    service.on(route, (response) => void response.end(answer.replace('\\u009b', '\u009b')));
    expect(await millrace('--json', 'deployments', verb, ...args)).toBe(0);
    expect(host.printed.replaceAll(/\s/g, '')).toBe(answer);
    expect(host.printed).toMatch(/^\{\n {2}"/);
  });
});
