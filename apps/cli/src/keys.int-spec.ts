import { FakeHost } from './fixtures/fake-host';
import { json, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

let service: StandInService;
let host: FakeHost;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url }, homeDir: '/nonexistent' });
});
afterEach(() => service.close());

const millrace = (...args: string[]): Promise<number> => runCli(args, host);

describe('millrace keys', () => {
  it('makes keys, and prints the secret alone on standard output', async () => {
    service.on('POST /platform/v1/api-keys', json(201, { id: 'k1', key: 'mr_secret' }));
    expect(await millrace('keys', 'create', 'ci', '--scope', 'jobs:read', 'jobs:write')).toBe(0);
    expect(host.printed).toBe('mr_secret\n');
    expect(JSON.parse(service.received[0]?.body.toString() ?? '')).toEqual({
      name: 'ci',
      scopes: ['jobs:read', 'jobs:write'],
    });
  });

  it('says when a key expires beside its secret', async () => {
    const key = { id: 'k1', key: 'mr_secret', expires_at: '2027-05-01T00:00:00.000Z' };
    service.on('POST /platform/v1/api-keys', json(201, key));
    expect(await millrace('keys', 'create', 'ci', '--expires-at', '2027-05-01')).toBe(0);
    expect(service.received[0]?.body.toString()).toContain(`"expires_at":"${key.expires_at}"`);
    expect(host.printed).toBe('mr_secret\n');
    expect(host.noted).toContain(`Key k1. It expires at ${key.expires_at}. It is not shown again`);
  });

  it.each(['90', '1.5.2027', '2027-02-30'])('makes no key that expires at %s', async (time) => {
    expect(await millrace('keys', 'create', 'ci', '--expires-at', time)).toBe(2);
    expect(host.noted).toMatch(new RegExp(`--expires-at "${time}" is not valid\\.\n.*2030-01-31`));
    expect(service.received).toEqual([]);
  });

  it('lists the keys of a label', async () => {
    service.on('GET /platform/v1/api-keys', json(200, { api_keys: [{ id: 'k1', name: 'Ada' }] }));
    expect(await millrace('keys', 'ls', '--label', 'user=ada', '--label', 'team=x&y')).toBe(0);
    const [, query = ''] = service.received[0]?.path.split('?') ?? [];
    expect([...new URLSearchParams(query)]).toEqual([
      ['labels[user]', 'ada'],
      ['labels[team]', 'x&y'],
    ]);
    expect(host.printed).toContain('Ada');
  });

  it('lists keys as wide as the terminal, and whole in a pipe', async () => {
    const id = '01a22991-5793-7550-85c7-f17a6a8c81fc';
    const scopes = ['jobs:read', 'jobs:write', 'assets:read', 'assets:write', 'usage:read', 'keys:admin'];
    const key = {
      id,
      name: 'ci',
      last_four: 'e6xa',
      scopes,
      labels: { user: 'ada' },
      status: 'live',
      revoked_at: null,
    };
    service.on('GET /platform/v1/api-keys', json(200, { api_keys: [{ ...key, parent_id: id, member_id: id }] }));
    host = new FakeHost({ env: { ...host.env, NO_COLOR: '1' }, columns: 80 });
    expect(await millrace('keys', 'ls')).toBe(0);
    expect(host.printed.split('\n')).toEqual([
      '  id                                    name  status  labels    scopes',
      `  ${id}  ci    live    user=ada  jobs:read jobs:…`,
      '',
    ]);
    expect(host.noted).toContain('--json shows more: last four, parent id, member id\n');
    host = new FakeHost({ env: { ...host.env } });
    expect(await millrace('keys', 'ls')).toBe(0);
    expect(host.printed).toContain(`${scopes.join(' ')}  e6xa       –           ${id}  ${id}\n`);
    expect(host.noted).toBe('');
  });

  it('rotates and revokes keys', async () => {
    service.on('POST /platform/v1/api-keys/k1/rotate', json(200, { id: 'k2', key: 'mr_new' }));
    service.on('DELETE /platform/v1/api-keys/k1', (response) => void response.writeHead(204).end());
    expect(await millrace('keys', 'rotate', 'k1', '--overlap', '60')).toBe(0);
    expect(await millrace('keys', 'revoke', 'k1')).toBe(0);
    expect(service.received[0]?.body.toString()).toBe('{"overlap_seconds":60}');
  });

  it('leaves it to the service how long a rotated key still works, where that is not given', async () => {
    service.on('POST /platform/v1/api-keys/k1/rotate', json(200, { id: 'k2', key: 'mr_new' }));
    expect(await millrace('keys', 'rotate', 'k1')).toBe(0);
    expect(service.received[0]?.body.toString()).toBe('{}');
  });
});
