import { FakeHost } from './fixtures/fake-host';
import { json, StandInService, type Answer } from './fixtures/stand-in-service';
import { runCli } from './program';

const MEMBERS = '/platform/v1/members';
const INVITATIONS = '/platform/v1/invitations';
const ADA = { id: 'm1', email: 'ada@example.com', role: 'developer', created_at: '2026-11-21T06:23:00.000Z' };
const INVITATION = { ...ADA, id: 'i1', expires_at: '2026-11-28T06:23:00.000Z' };

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url } });
});
afterEach(() => service.close());

const millrace = (...args: string[]): Promise<number> => runCli(['members', ...args], host);
const asked = (): unknown[] =>
  service.received.map(({ method, path, body }) => [
    `${method} ${path}`,
    ...(body.length === 0 ? [] : [JSON.parse(String(body)) as unknown]),
  ]);
const nothing: Answer = (response) => void response.writeHead(204).end();

describe('millrace members', () => {
  it('lists members and invitations, and says where there are none', async () => {
    service.on(`GET ${MEMBERS}`, json(200, { members: [ADA] }));
    service.on(`GET ${INVITATIONS}`, json(200, { invitations: [INVITATION] }));
    expect(await millrace('ls')).toBe(0);
    expect(await millrace('invitations')).toBe(0);
    expect(host.printed.match(/ada@example\.com/g)).toHaveLength(2);
    service.on(`GET ${MEMBERS}`, json(200, { members: [] }));
    service.on(`GET ${INVITATIONS}`, json(200, { invitations: [] }));
    expect(await millrace('ls')).toBe(0);
    expect(await millrace('invitations')).toBe(0);
    expect(host.printed + host.noted).toMatch(/No members\.[^]*No invitations\./);
  });

  it('invites, takes an invitation back, gives a role, and removes', async () => {
    service.on(`POST ${INVITATIONS}`, json(201, INVITATION));
    service.on(`DELETE ${INVITATIONS}/i1`, nothing);
    service.on(`PATCH ${MEMBERS}/m1`, json(200, { ...ADA, role: 'finance' }));
    service.on(`DELETE ${MEMBERS}/m1`, nothing);
    expect(await millrace('invite', 'ada@example.com', 'developer')).toBe(0);
    expect(await millrace('uninvite', 'i1')).toBe(0);
    expect(await millrace('role', 'm1', 'finance')).toBe(0);
    expect(await millrace('remove', 'm1')).toBe(0);
    expect(asked()).toEqual([
      [`POST ${INVITATIONS}`, { email: 'ada@example.com', role: 'developer' }],
      [`DELETE ${INVITATIONS}/i1`],
      [`PATCH ${MEMBERS}/m1`, { role: 'finance' }],
      [`DELETE ${MEMBERS}/m1`],
    ]);
    expect(host.printed).toMatch(/developer[^]*took back i1[^]*finance[^]*removed m1/);
  });

  it('prints one JSON document for each with --json', async () => {
    service.on(`GET ${MEMBERS}`, json(200, { members: [ADA] }));
    expect(await runCli(['--json', 'members', 'ls'], host)).toBe(0);
    expect(JSON.parse(host.printed)).toEqual({ members: [ADA] });
  });

  it('refuses a role that there is not, without a request', async () => {
    expect(await millrace('invite', 'ada@example.com', 'king')).toBe(2);
    expect(await millrace('role', 'm1', 'king')).toBe(2);
    expect(service.received).toEqual([]);
  });

  it('says what the service refused, and why', async () => {
    const error = { code: 'invalid_request', message: 'This account would have no owner: it is the last owner.' };
    service.on(`DELETE ${MEMBERS}/m1`, json(422, { error }));
    expect(await millrace('remove', 'm1')).toBe(3);
    expect(host.noted).toContain('the last owner');
  });
});
