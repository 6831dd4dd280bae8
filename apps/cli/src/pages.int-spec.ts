import { FakeHost } from './fixtures/fake-host';
import { json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url } });
});
afterEach(() => service.close());

describe('a list that comes in pages', () => {
  it.each([
    ['/platform/v1/erasures', ['privacy', 'erasures']],
    ['/platform/v1/deployments/d2/changes', ['deployments', 'changes', 'd2']],
  ])('reads %s page by page', async (path, command) => {
    service.on(`GET ${path}`, json(200, { found: [{ id: 'one' }], next_cursor: 'abc' }));
    expect(await runCli(command, host)).toBe(0);
    expect(host.noted).toContain('add --cursor abc');
    expect(await runCli([...command, '--cursor', 'abc', '--limit', '5'], host)).toBe(0);
    expect(service.received.at(-1)?.path).toBe(`${path}?limit=5&cursor=abc`);
  });
});
