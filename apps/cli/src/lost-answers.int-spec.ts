import { FakeHost } from './fixtures/fake-host';
import { json, refusal, StandInService, type Answer } from './fixtures/stand-in-service';
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
const cut: Answer = (response) => void response.destroy();
/** A head, and then the end of the connection in the middle of the body. */
const cutInBody: Answer = (response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"id":', () => response.destroy());
};
const KEYS = 'POST /platform/v1/api-keys';

describe('a write whose answer is lost', () => {
  it.each([
    [KEYS, ['keys', 'create', 'ci']],
    ['POST /platform/v1/api-keys/k1/rotate', ['keys', 'rotate', 'k1']],
    ['POST /platform/v1/webhook-endpoints', ['webhooks', 'add', 'https://example.com/']],
    ['POST /platform/v1/webhook-endpoints/e1/rotate', ['webhooks', 'rotate', 'e1']],
    ['POST /platform/v1/deployments', ['deployments', 'create', 'd1', 'cpu']],
    ['POST /platform/v1/invitations', ['members', 'invite', 'a@example.com', 'developer']],
    ['POST /admin/v1/accounts', ['admin', 'create-account', 'Ada']],
  ])('may have been done, which is said: %s', async (route, args) => {
    service.on(route, cut);
    expect(await millrace(...args)).toBe(6);
    expect(service.requests(route)).toHaveLength(1);
    expect(host.noted).toContain(`The answer of ${service.url} did not arrive`);
    expect(host.noted).toContain('Whether it was done is not known: look before you send it again.');
    expect(host.noted).not.toContain('cannot be reached');
  });

  it.each<[string, Answer]>([
    ['is cut in its middle', cutInBody],
    ['is a failure', refusal(500, 'upstream_error', 'A part of the service failed.')],
    ['is a failure of a proxy', (response) => void response.writeHead(502).end('Bad Gateway')],
  ])('is the same where the answer %s', async (_what, answer) => {
    service.on(KEYS, answer);
    expect(await millrace('keys', 'create', 'ci')).toBe(6);
    expect(host.noted).toContain('Whether it was done is not known: look before you send it again.');
  });

  it.each([
    ['DELETE /platform/v1/api-keys/k1', ['keys', 'revoke', 'k1']],
    ['PUT /platform/v1/credits/alert', ['credits', 'alert', '5']],
    ['POST /platform/v1/top-ups', ['credits', 'buy', '5']],
    ['POST /platform/v1/export-destination/test', ['exports', 'test']],
  ])('may be sent again where that does no harm, which is said: %s', async (route, args) => {
    service.on(route, cut);
    expect(await millrace(...args)).toBe(6);
    expect(host.noted).toContain('Whether it was done is not known; sending it again does no harm.');
  });

  it('is found by its Idempotency-Key where it has one', async () => {
    service.on('POST /admin/v1/accounts/a1/credits', cut);
    expect(await millrace('admin', 'grant', 'a1', '5', 'gift', '--idempotency-key', 'my-key')).toBe(6);
    expect(host.noted).toContain('sending it again with --idempotency-key my-key does it once.');
  });

  it.each([
    ['POST /admin/v1/accounts/a1/credits', ['admin', 'grant', 'a1', '5', 'gift']],
    ['POST /admin/v1/jobs/j1/redrive', ['admin', 'redrive', 'j1']],
  ])('is waited for at Ctrl-C, and left at a second one with the key that was made for it: %s', async (route, args) => {
    let answer = (): void => undefined;
    service.on(route, (response, request) => {
      answer = () => void json(200, { id: 'r1' })(response, request);
    });
    const waiting = millrace(...args);
    await service.asked(route);
    host.pressCtrlC();
    expect(host.noted).toContain('Waiting for the answer');
    answer();
    expect(await waiting).toBe(0);
    const leaving = millrace(...args);
    await service.asked(route, 2);
    host.pressCtrlC();
    host.pressCtrlC();
    expect(await leaving).toBe(130);
    const key = String(service.requests(route)[1]?.headers['idempotency-key']);
    expect(host.noted).toContain(`sending it again with --idempotency-key ${key} does it once.`);
  });
});

describe('what has done nothing', () => {
  const CHECK = 'Check the address, and that the service is running.';

  it('is a write that was not sent', async () => {
    const { url } = service;
    await service.close();
    expect(await millrace('keys', 'create', 'ci')).toBe(6);
    expect(host.noted).toContain(`${url} cannot be reached`);
    expect(host.noted).toContain(CHECK);
  });

  it('is a read', async () => {
    service.on('GET /platform/v1/api-keys', cut);
    expect(await millrace('keys', 'ls')).toBe(6);
    expect(host.noted).toContain(CHECK);
  });

  it('is a write that the service refused', async () => {
    service.on(KEYS, refusal(403, 'forbidden', 'The key may not do this.'));
    expect(await millrace('keys', 'create', 'ci')).toBe(3);
    expect(host.noted).not.toContain('is not known');
  });
});
