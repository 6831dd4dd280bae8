import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { FakeHost } from './fixtures/fake-host';
import { assetOf, JOB_ID, JOB_PATH, jobOf, outputOf, succeeded } from './fixtures/sample-jobs';
import { bytes, json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const CONTENT = Buffer.from('a picture');
const TOP_UP = {
  id: 't1',
  status: 'open',
  amount_micros: 20_000_000,
  price_minor: 2000,
  currency: 'usd',
  checkout_url: 'https://checkout.example/1',
};
const DATES = { create_time: '2026-11-21T06:23:00.000Z', update_time: '2026-11-21T06:23:00.000Z', deployment_id: null };

let service: StandInService;
let folder: string;
let host: FakeHost;

beforeEach(async () => {
  service = await StandInService.start();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  host = new FakeHost({ env: { MILLRACE_URL: `${service.url}/deployment/d1` }, homeDir: folder });
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

function millrace(...args: string[]): Promise<number> {
  return runCli(args, host);
}

/** The same paths under the prefix of a deployment, which the base address names. */
function at(path: string): string {
  return `/deployment/d1${path}`;
}

describe('millrace jobs', () => {
  it('lists over as many pages as were asked for, filtered by status and labels', async () => {
    const item = { ...jobOf({ metadata: { user: 'ada' }, queue_position: 4 }), ...DATES };
    const first = json(200, { jobs: Array<unknown>(100).fill(item), next_cursor: 'next' });
    service.on(`GET ${at('/api/v2/jobs')}`, first, json(200, { jobs: Array<unknown>(20).fill(item) }));
    expect(await millrace('jobs', 'ls', '--limit', '120', '--status', 'queued', '--label', 'user=ada')).toBe(0);
    expect(service.received.map(({ path }) => decodeURIComponent(path.split('?')[1] ?? ''))).toEqual([
      'limit=100&status=queued&metadata[user]=ada',
      'limit=20&status=queued&metadata[user]=ada&cursor=next',
    ]);
    expect(host.printed.match(/● queued position 4 .*user=ada/g)).toHaveLength(120);
  });

  it('shows a job, its nodes and its files', async () => {
    const outputs = [outputOf(service.url, 1, CONTENT, { name: 'evil\u001b[2J.png' })];
    service.on(`GET ${at(JOB_PATH)}`, json(200, succeeded({ outputs, metadata: { user: '\u202eada' } })));
    expect(await millrace('jobs', 'get', JOB_ID)).toBe(0);
    expect(host.printed).toMatch(/succeeded[^]*user=\\u\{202e\}ada[^]*evil\.png/);
  });

  it('shows the attempts of a job', async () => {
    const lost = {
      ...{ number: 1, started_at: DATES.create_time, ended_at: DATES.create_time, outcome: 'lost' },
      ...{ message: 'The worker was lost.', error: null, engine_ms: null, charge: 'not_charged' },
    };
    const second = { ...lost, number: 2, ended_at: null, outcome: null, message: 'It runs.\u001b[2J', charge: null };
    service.on(`GET ${at(JOB_PATH)}/attempts`, json(200, { attempts: [lost, second] }));
    expect(await millrace('jobs', 'attempts', JOB_ID)).toBe(0);
    expect(host.printed).toMatch(/1 +lost.*not charged +The worker was lost\.\n.*2 +running[^\u001b]*It runs\./);
    service.on(`GET ${at(JOB_PATH)}/attempts`, json(200, { attempts: [] }));
    expect(await millrace('jobs', 'attempts', JOB_ID)).toBe(0);
    expect(host.printed).toContain('No attempt has begun.');
  });

  it('says why a job waits, and nothing where the service does not', async () => {
    const reason = { code: 'a_later_one', message: 'No worker is ready yet.\u001b[2J' };
    service.on(`GET ${at(JOB_PATH)}`, json(200, jobOf()));
    expect(await millrace('jobs', 'get', JOB_ID)).toBe(0);
    expect(host.printed).not.toContain('waits');
    service.on(`GET ${at(`/platform/v1/jobs/${JOB_ID}`)}`, json(200, { waiting_reason: reason }));
    expect(await millrace('jobs', 'get', JOB_ID)).toBe(0);
    expect(host.printed).toMatch(/waits +No worker is ready yet\.[^\u001b]*$/);
    expect(await millrace('--json', 'jobs', 'get', JOB_ID)).toBe(0);
    expect(host.printed).toContain('"code": "a_later_one"');
  });

  it('says so when there was nothing left to cancel', async () => {
    service.on(`POST ${at(JOB_PATH)}/cancel`, json(200, succeeded()));
    expect(await millrace('jobs', 'cancel', JOB_ID)).toBe(0);
    expect(host.noted).toContain('had already ended');
  });

  it('cancels', async () => {
    service.on(`POST ${at(JOB_PATH)}/cancel`, json(200, jobOf({ status: 'canceling' })));
    expect(await millrace('--json', 'jobs', 'cancel', JOB_ID)).toBe(0);
    expect(JSON.parse(host.printed)).toMatchObject({ job: { status: 'canceling' } });
    expect(service.received[0]?.body).toHaveLength(0);
  });

  it('prints a log as plain text', async () => {
    const log = { text: 'one\u001b[31m\rtwo\n', truncated: true, captured_at: DATES.create_time, complete: true };
    service.on(`GET ${at(JOB_PATH)}/logs`, json(200, log));
    expect(await millrace('jobs', 'logs', JOB_ID)).toBe(0);
    expect(host.printed).toBe('one\ntwo\n');
    expect(host.noted).toContain('Only the end');
  });

  it('says so when there is no log', async () => {
    service.on(`GET ${at(JOB_PATH)}/logs`, (response) => void response.writeHead(204).end());
    expect(await millrace('jobs', 'logs', JOB_ID)).toBe(0);
    expect(host.printed).toBe('');
  });

  it('prints a workflow digit for digit', async () => {
    const workflow = '{"3": {"inputs": {"seed": 18446744073709551615, "cfg": 1.0}}}';
    service.on(
      `GET ${at(JOB_PATH)}/workflow`,
      (response) => void response.end(`{"format":"api","workflow": ${workflow} }`),
    );
    expect(await millrace('jobs', 'workflow', JOB_ID)).toBe(0);
    expect(host.printed).toBe(workflow);
  });

  it('refuses a malformed id without a request', async () => {
    expect(await millrace('jobs', 'get', '../keys')).toBe(2);
    expect(service.received).toHaveLength(0);
  });
});

describe('millrace assets', () => {
  it('uploads, and tries again when the service fails on the way', async () => {
    const file = join(folder, 'photo.JPG');
    await writeFile(file, CONTENT);
    service.on(`POST ${at('/api/v2/assets')}`, json(503, {}), json(201, assetOf(service.url, 1)));
    expect(await millrace('assets', 'put', file, '--tag', 'in', '--expires-in', '60')).toBe(0);
    const [first, second] = service.received;
    expect(second?.body.toString()).toMatch(
      /image\/jpeg[^]*name="tags"\r\n\r\nin[^]*name="expires_in"\r\n\r\n60[^]*a picture/,
    );
    expect(first?.headers['idempotency-key']).not.toBe(second?.headers['idempotency-key']);
  });

  it('fetches into a folder, to a file and to standard output', async () => {
    const { id, hash } = outputOf(service.url, 1, CONTENT);
    const asset = assetOf(service.url, 1, { hash, size_bytes: CONTENT.byteLength, file_path: '../p.png' });
    service.on(`GET ${at(`/api/v2/assets/${id}`)}`, json(200, asset)).on('GET /files/1', bytes(CONTENT));
    expect(await millrace('assets', 'get', id, '-o', folder)).toBe(0);
    expect(await millrace('assets', 'get', id, '-o', join(folder, 'q.png'))).toBe(0);
    expect(await readFile(join(folder, 'p.png'))).toEqual(CONTENT);
    expect(await readFile(join(folder, 'q.png'))).toEqual(CONTENT);
    const before = host.printed.length;
    expect(await millrace('assets', 'get', id, '-o', '-')).toBe(0);
    expect(host.printed.slice(before)).toBe(CONTENT.toString());
  });

  it('leaves no file of a download that Ctrl-C ends, under its name or another', async () => {
    const { id, hash } = outputOf(service.url, 1, CONTENT);
    const asset = assetOf(service.url, 1, { hash, size_bytes: CONTENT.byteLength, file_path: 'p.png' });
    service.on(`GET ${at(`/api/v2/assets/${id}`)}`, json(200, asset));
    service.on('GET /files/1', (response) => void response.writeHead(200).write(CONTENT.subarray(0, 1)));
    const into = await mkdtemp(join(tmpdir(), 'millrace-cli-into-'));
    const saving = millrace('assets', 'get', id, '-o', into);
    await eventually('the download to begin', async () => (await readdir(into)).length > 0);
    expect(await readdir(into)).toEqual([expect.stringMatching(/\.part$/)]);
    host.pressCtrlC();
    expect([await saving, await readdir(into)]).toEqual([130, []]);
    await rm(into, { recursive: true });
  });

  it('lists uploads or outputs, page by page up to the limit, and says when there are none', async () => {
    const files = [1, 2, 3].map((nth) => assetOf(service.url, nth, { file_path: `hostile\u001b[31m-${nth}.png` }));
    service.on(
      `GET ${at('/api/v2/assets')}`,
      json(200, { assets: files.slice(0, 2), next_cursor: 'c' }),
      json(200, { assets: [], next_cursor: 'd' }),
      json(200, { assets: files.slice(2) }),
      json(200, { assets: [] }),
    );
    expect(await millrace('assets', 'ls', '--outputs', '--type', 'image/', '--limit', '150')).toBe(0);
    const queries = service.received.map(({ path }) => path.split('?')[1]);
    expect(queries).toEqual([
      'limit=100&kind=output&content_type=image%2F',
      'limit=100&kind=output&content_type=image%2F&cursor=c',
      'limit=100&kind=output&content_type=image%2F&cursor=d',
    ]);
    for (const { id } of files) expect(host.printed).toContain(String(id));
    expect(host.printed).toContain('-3.png');
    expect(host.printed).not.toContain('\u001b[31m-');
    expect(await millrace('assets', 'ls')).toBe(0);
    expect(host.printed).toContain('No files.');
  });

  it('deletes, and says why it could not', async () => {
    const { id } = outputOf(service.url, 1, CONTENT);
    service.on(`DELETE ${at(`/api/v2/assets/${id}`)}`, refusal(409, 'asset_in_use', 'A job refers to it.'));
    expect(await millrace('assets', 'rm', id)).toBe(3);
    expect(host.noted).toMatch(/asset_in_use \(409\) A job refers to it[^]*→ Wait/);
  });
});

describe('the account', () => {
  it('is at the origin, also where the base address has the prefix of a deployment', async () => {
    service.on('GET /platform/v1/credits', json(200, { available_micros: 24_993_600, held_micros: 0 }));
    expect(await millrace('credits')).toBe(0);
    expect(host.printed).toContain('24.9936');
  });

  it('shows and sets below which balance the account is warned', async () => {
    service.on('GET /platform/v1/credits/alert', json(200, { below_micros: 5_000_000 }));
    service.on('PUT /platform/v1/credits/alert', json(200, { below_micros: 500_000 }));
    expect(await millrace('credits', 'alert')).toBe(0);
    expect(await millrace('credits', 'alert', '0.5')).toBe(0);
    expect(await millrace('credits', 'alert', '0')).toBe(0);
    const bodies = service
      .requests('PUT /platform/v1/credits/alert')
      .map(({ body }) => JSON.parse(body.toString()) as unknown);
    expect(bodies).toEqual([{ below_micros: 500_000 }, { below_micros: 0 }]);
    expect(await millrace('credits', 'alert', '-1')).toBe(2);
  });

  it('limits the jobs of a label, of one value or of every one', async () => {
    service.on('PUT /platform/v1/label-rules', json(200, { id: 'r1' }));
    service.on('GET /platform/v1/label-use', json(200, { jobs: 2 }));
    service.on('DELETE /platform/v1/label-rules/r1', json(204, null));
    expect(
      await millrace('labels', 'limit', 'user=ada', '--max-jobs', '5', '--daily', '2.5', '--keep-hours', '2'),
    ).toBe(0);
    expect(await millrace('labels', 'limit', 'user', '--monthly', '0', '--stop')).toBe(0);
    expect(await millrace('labels', 'limit', 'user', '--daily', '1', '--finish')).toBe(0);
    const bodies = service
      .requests('PUT /platform/v1/label-rules')
      .map(({ body }) => JSON.parse(body.toString()) as unknown);
    expect(bodies).toEqual([
      {
        label: 'user',
        value: 'ada',
        max_jobs: 5,
        daily_micros: 2_500_000,
        monthly_micros: null,
        daily_at_cap: null,
        monthly_at_cap: null,
        retention_seconds: 7_200,
      },
      expect.objectContaining({
        label: 'user',
        value: null,
        monthly_micros: 0,
        daily_at_cap: null,
        monthly_at_cap: 'stop',
      }),
      expect.objectContaining({ daily_micros: 1_000_000, daily_at_cap: 'finish', monthly_at_cap: null }),
    ]);
    expect(await millrace('labels', 'use', 'user=ada')).toBe(0);
    expect(host.printed).toMatch(/jobs +2/);
    expect(await millrace('labels', 'unlimit', 'r1')).toBe(0);
    expect(await millrace('labels', 'limit', 'user')).toBe(2);
    expect(await millrace('labels', 'limit', 'user', '--stop')).toBe(2);
    expect(await millrace('labels', 'limit', 'user', '--max-jobs', '1', '--finish')).toBe(2);
    expect(await millrace('labels', 'limit', 'user', '--daily', '1', '--stop', '--finish')).toBe(2);
    expect(await millrace('labels', 'use', 'user')).toBe(2);
  });

  it('lists the days of exports, and saves the file of one', async () => {
    const day = {
      day: '2026-11-22',
      complete: true,
      usage: { rows: 3, charged_micros: 9 },
      ledger: { rows: 7, charged_micros: 9 },
    };
    service.on('GET /platform/v1/exports', json(200, { exports: [day] }));
    expect(await millrace('exports', 'list', '--from', '2026-11-01')).toBe(0);
    expect(host.printed).toMatch(/2026-11-22 +.*3 .*7/);
    service.on('GET /platform/v1/exports/2026-11-22/ledger.csv.gz', json(200, 'as it came'));
    const path = join(folder, 'ledger.gz');
    expect(await millrace('exports', 'download', '2026-11-22', '--dataset', 'ledger', '--out', path)).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('"as it came"');
  });

  it('orders credits, and prints the address of the page on which they are paid alone', async () => {
    service.on('POST /platform/v1/top-ups', json(201, TOP_UP));
    expect(await millrace('credits', 'buy', '20')).toBe(0);
    expect(host.printed).toBe('https://checkout.example/1\n');
    expect(host.noted).toMatch(/20 credits for 2000 usd .*millrace credits order t1/);
    expect(JSON.parse(service.received[0]?.body.toString() ?? '')).toEqual({
      credits: 20,
      return_url: `${service.url}/deployment/d1/api/v2/reference`,
    });
  });

  it('prints an order as one JSON document, with the given address to return to', async () => {
    service.on('POST /platform/v1/top-ups', json(201, TOP_UP));
    expect(await millrace('--json', 'credits', 'buy', '20', '--return-url', 'https://shop.example/?tab=2')).toBe(0);
    expect(JSON.parse(host.printed)).toEqual(TOP_UP);
    expect(service.received[0]?.body.toString()).toContain('"return_url":"https://shop.example/?tab=2"');
  });

  it.each([
    ['paid', 0, '✓ paid; the credits were added'],
    ['expired', 1, '✗ expired; no credits were added'],
  ])('stays until an order is %s', async (status, code, sentence) => {
    service.on('POST /platform/v1/top-ups', json(201, TOP_UP));
    service.on('GET /platform/v1/top-ups/t1', json(200, TOP_UP), json(200, { ...TOP_UP, status, checkout_url: null }));
    expect(await millrace('credits', 'buy', '20', '--wait')).toBe(code);
    expect(service.requests('GET /platform/v1/top-ups/t1')).toHaveLength(2);
    expect(host.noted).toContain(sentence);
  });

  it('shows one order', async () => {
    service.on('GET /platform/v1/top-ups/t1', json(200, TOP_UP));
    expect(await millrace('credits', 'order', 't1')).toBe(0);
    expect(host.printed).toMatch(/status +open\n +amount credits +20\n/);
  });

  it.each([
    ['2.5', [], '<credits> "2.5" is not valid.'],
    ['20', ['--return-url', 'shop'], '--return-url "shop" is not valid.'],
  ])('orders nothing for %s %j', async (amount, flags, sentence) => {
    expect(await millrace('credits', 'buy', amount, ...flags)).toBe(2);
    expect(host.noted).toContain(sentence);
    expect(service.received).toHaveLength(0);
  });

  it('says how to get a key that may buy, where this one may not', async () => {
    const details = { scope: 'credits:write' };
    service.on('POST /platform/v1/top-ups', refusal(403, 'forbidden', 'This API key lacks the scope.', { details }));
    expect(await millrace('credits', 'buy', '20')).toBe(3);
    expect(host.noted).toMatch(/→ .*keys create NAME --scope credits:write.*millrace admin create-key ACCOUNT NAME/);
  });

  it('shows lists of the service as tables', async () => {
    service.on('GET /platform/v1/deployments', json(200, { deployments: [{ id: 'd1', state: 'ready', workers: 2 }] }));
    expect(await millrace('deployments', 'ls')).toBe(0);
    expect(host.printed).toMatch(/id +state +workers\n +d1 +ready +2\n/);
  });

  it('gives usage as the service groups it, or as CSV', async () => {
    service.on(
      'GET /platform/v1/usage',
      json(200, { rows: [] }),
      (response) => void response.end('day,charged_micros\n'),
    );
    expect(await millrace('usage', '--from', '2026-11-01', '--group-by', 'label:user')).toBe(0);
    expect(await millrace('usage', '--csv')).toBe(0);
    expect(service.received[0]?.path).toBe('/platform/v1/usage?group_by=label%3Auser&from=2026-11-01');
    expect(service.received[1]?.headers.accept).toBe('text/csv');
    expect(host.printed).toMatch(/Nothing was used\.\nday,charged_micros\n$/);
  });
});

describe('millrace admin', () => {
  beforeEach(() => Object.assign(host.env, { MILLRACE_OPS_URL: service.url, MILLRACE_ADMIN_TOKEN: 'token' }));

  it('speaks to the ops listener with its own token', async () => {
    service.on('POST /admin/v1/accounts/a1/credits', json(200, { id: 'a1' }));
    expect(
      await millrace('admin', '--ops-url', service.url, '--admin-token', 'token', 'grant', 'a1', '2.5', 'welcome'),
    ).toBe(0);
    expect(service.received[0]?.headers.authorization).toBe('Bearer token');
    expect(service.received[0]?.body.toString()).toBe('{"amount_micros":2500000,"reason":"welcome"}');
  });

  it('takes both from the environment, and flags as fields', async () => {
    service.on('POST /admin/v1/accounts', json(201, { id: 'a1' }));
    expect(await millrace('admin', 'create-account', 'Ada', '--running-limit', '4')).toBe(0);
    expect(service.received[0]?.body.toString()).toBe('{"name":"Ada","running_limit":4}');
  });

  it('gives a limit back to what the service has by default', async () => {
    service.on('PATCH /admin/v1/accounts/a1', json(200, { id: 'a1' }));
    const limits = ['--requests-per-minute', 'default', '--stream-limit', '9', '--upload-bytes-per-day', 'default'];
    expect(await millrace('admin', 'update-account', 'a1', ...limits, '--weight', '3')).toBe(0);
    expect(JSON.parse(service.received[0]?.body.toString() ?? '')).toEqual({
      requests_per_minute: null,
      stream_limit: 9,
      upload_bytes_per_day: null,
      weight: 3,
    });
  });

  it.each([
    [['--running-limit', '0'], /--running-limit "0" is not valid[^]*from 1 to 2000000000, or `default`/],
    [['--weight', 'default'], /--weight "default" is not valid[^]*→ Give a whole number from 1 to 1000\./],
    [['--status', 'gone'], /--status "gone" is not valid[^]*→ Give one of active, suspended\./],
    [[], /Nothing to change[^]*→ Give at least one of --name, .*--status/],
  ])('asks nothing of the service for %j, and says what to give', async (flags, sentence) => {
    expect(await millrace('admin', 'update-account', 'a1', ...flags)).toBe(2);
    expect(host.noted).toMatch(sentence);
    expect(service.received).toHaveLength(0);
  });

  it('gives credits once, however often it has to be said', async () => {
    service.on('POST /admin/v1/accounts/a1/credits', json(503, {}), json(201, { available_micros: 500_000 }));
    expect(await millrace('admin', 'grant', 'a1', '-0.5', 'given by mistake')).toBe(0);
    const [first, second] = service.received;
    expect(second?.body.toString()).toBe('{"amount_micros":-500000,"reason":"given by mistake"}');
    expect(first?.headers['idempotency-key']).toBe(second?.headers['idempotency-key']);
  });

  it('names the key to give credits again with when it cannot know whether they were given', async () => {
    service.on('POST /admin/v1/accounts/a1/credits', json(503, {}));
    expect(await millrace('admin', 'grant', 'a1', '1', 'welcome', '--idempotency-key', 'k1')).toBe(6);
    expect(host.noted).toContain('--idempotency-key k1 does it once');
  });

  it('sends filters in the query, and says how to see more', async () => {
    service.on('GET /admin/v1/audit-log', json(200, { entries: [{ id: 'e1' }], next_cursor: 'next' }));
    expect(
      await millrace('admin', 'audit-log', '--action', 'credits.adjust', '--from', '2026-11-01', '--limit', '1'),
    ).toBe(0);
    expect(service.received[0]?.path).toBe(
      '/admin/v1/audit-log?limit=1&action=credits.adjust&from=2026-11-01T00%3A00%3A00.000Z',
    );
    expect(host.noted).toContain('There are more: add --cursor next');
  });

  it('exits with 1 when an invariant does not hold', async () => {
    service.on('GET /admin/v1/audit', json(200, { ok: true }), json(200, { ok: false }));
    expect(await millrace('admin', 'audit')).toBe(0);
    expect(await millrace('admin', 'audit')).toBe(1);
  });
});

describe('a command line that cannot be meant', () => {
  it.each([
    [['jobs', 'ls', '--lable', 'a=b'], "Unknown option '--lable'. Did you mean --label?"],
    [['jobs', 'get'], "Missing required argument 'job'."],
    [['nonsense'], "Unknown command 'nonsense'."],
  ])('exits with 2 for %j, with a sentence, and as JSON where that is asked for', async (args, sentence) => {
    expect(await millrace(...args)).toBe(2);
    expect(host.noted).toBe(`✗ ${sentence}\n  → Add --help to see its arguments and flags.\n`);
    expect(await millrace('--json', ...args)).toBe(2);
    expect(JSON.parse(host.printed)).toMatchObject({ error: { code: 'usage', message: sentence } });
    expect(service.received).toHaveLength(0);
  });

  it('shows the help where nothing is asked for', async () => {
    expect(await millrace('jobs')).toBe(2);
    expect(host.noted).toMatch(/^Usage: millrace jobs/);
  });
});

describe('the service', () => {
  it('is asked whether it has keys where no credits are left: without, nothing costs any', async () => {
    service.on('GET /platform/v1/credits', json(200, { available_micros: 0, held_micros: 0 }));
    service.on('GET /platform/v1/account', json(200, { key: { id: 'k1' } }), json(200, { key: { id: null } }));
    expect(await millrace('credits')).toBe(0);
    expect(host.noted).toBe('');
    expect(await millrace('credits')).toBe(0);
    expect(host.noted).toBe('Nothing costs credits here.\n');
  });

  it('is asked again when a read fails, and not when it refuses', async () => {
    service.on(
      'GET /platform/v1/credits',
      json(502, {}),
      refusal(429, 'rate_limited', 'Slower.', { headers: { 'retry-after': '1' } }),
      json(200, {}),
    );
    expect(await millrace('credits')).toBe(0);
    service.on('GET /platform/v1/credits', refusal(403, 'forbidden', 'usage:read is needed.'));
    expect(await millrace('credits')).toBe(3);
    expect(service.received).toHaveLength(4);
  });

  it('says of each field what is wrong with it, once', async () => {
    const details = {
      fields: [
        { field: 'from', reason: 'must be a time' },
        { field: 'to', reason: 'must be later' },
      ],
    };
    const message = 'The request is not valid. from: must be a time.';
    service.on('GET /platform/v1/usage', refusal(400, 'invalid_request', message, { details }));
    expect(await millrace('usage')).toBe(3);
    expect(host.noted.match(/must be a time/g)).toHaveLength(1);
    expect(host.noted).toMatch(/\n +to +must be later\n/);
  });

  it.each([
    ['a page of something else', (url: string) => bytes(Buffer.from(`<html>${url}</html>`)), 6],
    ['a job that is none', () => json(200, { id: 'x' }), 6],
    ['an error without an envelope', () => json(418, 'teapot'), 3],
  ])('may answer with %s', async (_what, answer, code) => {
    service.on(`GET ${at(JOB_PATH)}`, answer(service.url));
    expect(await millrace('jobs', 'get', JOB_ID)).toBe(code);
  });

  it('may redirect a write, which is not followed blindly', async () => {
    service.on(
      'POST /platform/v1/api-keys',
      (response) => void response.writeHead(301, { location: 'https://other.example/' }).end(),
    );
    expect(await millrace('keys', 'create', 'ci')).toBe(6);
    expect(host.noted).toContain('redirects this request to https://other.example/');
  });
});
