import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeHost } from './fixtures/fake-host';
import { json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const CAPS = '/platform/v1/spend/caps';

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
const bodies = (): unknown[] => service.received.map(({ body }): unknown => JSON.parse(String(body)));

describe('millrace spend', () => {
  it('lists the caps, with what is used of them', async () => {
    const cap = { id: 'c1', scope: 'account', daily_micros: 50_000_000, day_micros: 1, stopped: false };
    service.on('GET /platform/v1/spend', json(200, { spend_caps: [cap] }));
    expect(await millrace('spend')).toBe(0);
    expect(host.printed).toMatch(/c1/);
  });

  it('caps the account, one key, and each key, in credits', async () => {
    service.on(`PUT ${CAPS}`, json(200, { id: 'c1', scope: 'account' }));
    expect(await millrace('spend', 'cap', '--daily', '50', '--stop')).toBe(0);
    expect(await millrace('spend', 'cap', '--monthly', '0.5', '--key', 'k1')).toBe(0);
    expect(await millrace('spend', 'cap', '--daily', '0', '--monthly', '12', '--each-key')).toBe(0);
    const finish = { daily_at_cap: 'finish', monthly_at_cap: 'finish' };
    expect(bodies()).toEqual([
      {
        ...{ scope: 'account', key_id: null, daily_micros: 50_000_000, monthly_micros: null },
        ...{ daily_at_cap: 'stop', monthly_at_cap: 'stop' },
      },
      { scope: 'key', key_id: 'k1', daily_micros: null, monthly_micros: 500_000, ...finish },
      { scope: 'key', key_id: null, daily_micros: 0, monthly_micros: 12_000_000, ...finish },
    ]);
  });

  it.each([
    [[], /There is no cap to set/],
    [['--daily', '1', '--key', 'k1', '--each-key'], /A cap is of one key or of each/],
    [['--daily', 'much'], /--daily/],
    [['--monthly', '-1'], /--monthly/],
  ])('says what is wrong before anything is sent: %j', async (flags, message) => {
    expect(await millrace('spend', 'cap', ...flags)).toBe(2);
    expect(host.noted).toMatch(message);
    expect(service.received).toHaveLength(0);
  });

  it('deletes a cap', async () => {
    service.on(`DELETE ${CAPS}/c1`, (response) => void response.writeHead(204).end());
    expect(await millrace('spend', 'uncap', 'c1')).toBe(0);
    expect(host.printed).toBe('deleted c1\n');
  });
});

describe('millrace estimate', () => {
  it('asks with the limit that the submission would have', async () => {
    const graph = join(folder, 'graph.json');
    await writeFile(graph, '{"1":{"class_type":"EmptyImage","inputs":{}}}');
    const estimate = {
      ...{ accepted: false, error: { code: 'invalid_request', message: 'spend_limit_micros is 1', details: null } },
      ...{ hold_micros: 600_000, price_micros_per_second: 10_000, run_ms: null, cost_micros: null, known_runs: 0 },
      ...{ queue_position: null, wait_ms: null, reuse: null },
    };
    service.on('POST /platform/v1/estimates', json(200, estimate));
    expect(await millrace('estimate', graph, '--spend-limit', '0.5')).not.toBe(0);
    expect(service.received[0]?.headers).toMatchObject({ 'millrace-spend-limit-micros': '500000' });
    expect(host.printed).toContain('It would be refused');
  });
});
