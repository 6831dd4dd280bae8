import { FakeHost } from './fixtures/fake-host';
import { json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const ENDPOINTS = '/platform/v1/webhook-endpoints';

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url } });
});
afterEach(() => service.close());

const millrace = (...args: string[]): Promise<number> => runCli(['webhooks', ...args], host);
const bodies = (): unknown[] =>
  service.received.map(({ body }): unknown => (body.length === 0 ? null : JSON.parse(String(body))));

describe('millrace webhooks', () => {
  it('adds an endpoint, and prints the secret alone on standard output', async () => {
    service.on(`POST ${ENDPOINTS}`, json(201, { id: 'e1', secret: 'whsec_abc' }));
    expect(await millrace('add', 'https://example.com/', '--event', 'job.failed', '--description', 'a note')).toBe(0);
    expect(bodies()).toEqual([{ url: 'https://example.com/', events: ['job.failed'], description: 'a note' }]);
    expect(host.printed).toBe('whsec_abc\n');
    expect(await millrace('add', 'https://example.com/', '--event', 'job.queued')).toBe(2);
  });

  it('lists, enables, tests, rotates and deletes endpoints', async () => {
    const endpoint = { id: 'e1', url: 'https://example.com/', enabled: false, disabled_reason: 'failing' };
    service.on(`GET ${ENDPOINTS}`, json(200, { webhook_endpoints: [endpoint] }));
    service.on(`PATCH ${ENDPOINTS}/e1`, json(200, { ...endpoint, enabled: true }));
    service.on(`POST ${ENDPOINTS}/e1/test`, json(201, { id: 'm1' }));
    service.on(`POST ${ENDPOINTS}/e1/rotate`, json(200, { id: 'e1', secret: 'whsec_new' }));
    service.on(`DELETE ${ENDPOINTS}/e1`, (response) => void response.writeHead(204).end());
    expect(await millrace('ls')).toBe(0);
    expect(host.printed).toContain('failing');
    expect(await millrace('enable', 'e1')).toBe(0);
    expect(await millrace('test', 'e1')).toBe(0);
    expect(await millrace('rotate', 'e1', '--overlap', '60')).toBe(0);
    expect(await millrace('rotate', 'e1')).toBe(0);
    expect(host.printed).toContain('whsec_new\n');
    expect(await millrace('rm', 'e1')).toBe(0);
    expect(bodies()).toEqual([null, { enabled: true }, null, { overlap_seconds: 60 }, {}, null]);
  });

  it('shows what was sent, and sends it again', async () => {
    const attempt = { attempt: 1, at: '2026-11-21T06:23:00.000Z', status: 500, answer: 'evil\u001b[2J' };
    const message = { id: 'm1', type: 'job.failed', state: 'failed', attempts: [attempt] };
    service.on(`GET ${ENDPOINTS}/e1/messages`, json(200, { messages: [message] }));
    service.on(`POST ${ENDPOINTS}/e1/messages/m1/replay`, json(200, message));
    service.on(`POST ${ENDPOINTS}/e1/replay`, json(200, { replayed: 10_000, more: true, next_cursor: 'behind' }));
    expect(await millrace('deliveries', 'e1', '--state', 'failed', '--limit', '5', '--cursor', 'c')).toBe(0);
    expect(service.received[0]?.path.split('?')[1]).toBe('limit=5&state=failed&cursor=c');
    expect(host.printed).not.toContain('\u001b[2J');
    expect(await millrace('replay', 'e1', '--message', 'm1')).toBe(0);
    expect(await millrace('replay', 'e1', '--since', '2026-11-21T00:00:00Z', '--delivered')).toBe(0);
    expect(bodies().at(-1)).toEqual({ since: '2026-11-21T00:00:00.000Z', delivered: true });
    expect(host.printed).toMatch(/10000 messages are sent again; there may be more: run it again with --cursor behind/);
    expect(await millrace('replay', 'e1', '--cursor', 'behind', '--delivered')).toBe(0);
    expect(bodies().at(-1)).toEqual({ delivered: true, cursor: 'behind' });
    expect(await millrace('replay', 'e1', '--message', 'm1', '--cursor', 'behind')).toBe(2);
    expect(await millrace('replay', 'e1', '--message', 'm1', '--since', '2026-11-21T00:00:00Z')).toBe(2);
  });
});
