import { FakeHost } from './fixtures/fake-host';
import { type Answer, json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const TEST = 'POST /platform/v1/export-destination/test';
const READ = 'GET /platform/v1/export-deliveries/d1';

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url }, speed: 100_000 });
  service.on(TEST, json(201, delivery('pending')));
});
afterEach(() => service.close());

const test = (): Promise<number> => runCli(['exports', 'test'], host);
const away: Answer = (response) => void response.destroy();

function delivery(state: string, error: string | null = null): Record<string, unknown> {
  const attempts = state === 'pending' ? [] : [{ attempt: 1, error }];
  return { id: 'd1', day: null, state, location: null, attempts };
}

describe('millrace exports test', () => {
  it('waits for what comes of it, also through a short outage of the service', async () => {
    service.on(TEST, away, json(503, {}), json(201, delivery('pending')));
    const outage = Array.from({ length: 12 }, () => away);
    service.on(READ, json(200, delivery('pending')), ...outage, json(200, delivery('delivered')));
    expect(await test()).toBe(0);
    expect(host.printed).toContain('delivered');
  });

  it('says why the file was not written, and what to do', async () => {
    service.on(READ, json(200, delivery('failed', 'The bucket answered 403 AccessDenied.')));
    expect(await test()).toBe(1);
    expect(host.noted).toMatch(/was not written: The bucket answered 403 AccessDenied\.\n.*→ .*exports test/);
  });

  it('says where to look when nothing has come of it in two minutes, or the service stays away', async () => {
    service.on(READ, json(200, delivery('pending')));
    expect(await test()).toBe(1);
    expect(host.noted).toMatch(/two minutes[^]*millrace exports deliveries/);
    service.on(READ, away);
    expect(await test()).toBe(6);
    expect(host.noted).toMatch(/has not answered for five minutes[^]*millrace exports deliveries/);
  });

  it('does not wait where it is refused', async () => {
    service.on(TEST, refusal(404, 'not_found', 'This account has no export destination.'));
    expect(await test()).toBe(3);
    expect(host.noted).toContain('exports destination --bucket');
  });
});
