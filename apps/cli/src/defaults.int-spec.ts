import { FakeHost } from './fixtures/fake-host';
import { json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const DEFAULTS = '/platform/v1/account/submission-defaults';

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url } });
});
afterEach(() => service.close());

const millrace = (...args: string[]): Promise<number> => runCli(['defaults', ...args], host);

describe('millrace defaults', () => {
  it('shows what is set', async () => {
    service.on(`GET ${DEFAULTS}`, json(200, { retry: { max: 2, on: ['worker_lost'], pause_seconds: 10 } }));
    expect(await millrace()).toBe(0);
    expect(host.printed).toContain('worker_lost');
  });

  it('sets what flags name, and leaves the rest', async () => {
    service.on(`GET ${DEFAULTS}`, json(200, { retry: null, other: 'stays' }));
    service.on(`PUT ${DEFAULTS}`, json(200, { retry: null }));
    expect(
      await millrace('set', '--retry-max', '2', '--retry-on', 'worker_lost', 'engine_error', '--retry-pause', '30'),
    ).toBe(0);
    expect(await millrace('set', '--retry-max', '0')).toBe(0);
    const bodies = service.received
      .filter(({ body }) => body.length > 0)
      .map(({ body }): unknown => JSON.parse(String(body)));
    expect(bodies).toEqual([
      { retry: { max: 2, on: ['worker_lost', 'engine_error'], pause_seconds: 30 }, other: 'stays' },
      { retry: null, other: 'stays' },
    ]);
  });

  it.each([
    [['set']],
    [['set', '--retry-max', '2']],
    [['set', '--retry-max', '6', '--retry-on', 'worker_lost']],
    [['set', '--retry-max', '2', '--retry-on', 'execution_timeout']],
    [['set', '--retry-on', 'worker_lost']],
  ])('sends nothing for %j', async (args) => {
    expect(await millrace(...args)).toBe(2);
    expect(service.received).toEqual([]);
  });
});
