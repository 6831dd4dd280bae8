import { existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from '@millrace/testing';
import { identify } from '../../scripts/lib/system/processes.mjs';
import {
  START_LIMIT_MS,
  ended,
  readRunFile as readRunFileOf,
  start as startOn,
  startReady as startReadyOn,
  type RunFile,
  type Started,
} from './support/started';

let data: string;
beforeAll(() => (data = mkdtempSync(join(tmpdir(), 'millrace-start-'))));
afterAll(() => rmSync(data, { recursive: true, force: true }));

const start = (...flags: string[]): Started => startOn(data, ...flags);
const startReady = (...flags: string[]): Promise<Started> => startReadyOn(data, ...flags);
const readRunFile = (): RunFile => readRunFileOf(data);

/** Whether the run file names this pid. */
function hasPid(pid: number): boolean {
  return readRunFile().processes.some((process) => process.pid === pid);
}

function pidOf(role: string): number {
  return readRunFile().processes.find((process) => process.role === role)?.pid ?? 0;
}

/** The addresses on which a process accepts connections, as the kernel writes them: in hexadecimal, each word reversed. */
function listensOn(pid: number): string[] {
  const LISTENING = '0A';
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => /^socket:\[(\d+)\]$/.exec(openFile(pid, fd))?.[1] ?? []),
  );
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1),
  );
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTENING && sockets.has(inode ?? ''))
    .map(([, address]) => address?.split(':')[0] ?? '');
}

/** What a descriptor stands for; nothing when it was closed meanwhile. */
function openFile(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return '';
  }
}

const get = (url: string, token?: string): Promise<Response> =>
  fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

describe('npm start', () => {
  jest.setTimeout(2 * START_LIMIT_MS);
  let running: Started;
  let first: RunFile;

  it('brings up everything that its run file names', async () => {
    running = await startReady('--workers', '2');
    first = readRunFile();
    expect(statSync(join(data, 'run.json')).mode & 0o077).toBe(0);
    // The fleet comes later: nothing waits for it.
    expect(
      first.processes
        .map(({ role }) => role)
        .filter((role) => role !== 'fleet')
        .sort(),
    ).toEqual(['api', 'maintenance', 'postgres', 'redis', 'worker', 'worker'].sort());
    expect(first.processes.filter(({ pid }) => !identify(pid))).toEqual([]);
    expect(first.blobStore).toBe('fs');
    const live = (await (await get(`${first.opsUrl}/health/live`)).json()) as { pid: number };
    expect(live.pid).toBe(pidOf('api'));
    expect((await get(`${first.publicUrl}/api/v2/jobs`, first.apiKey)).status).toBe(200);
    expect((await get(`${first.publicUrl}/api/v2/jobs`)).status).toBe(401);
    const client = new pg.Client({ connectionString: first.databaseUrl });
    await client.connect();
    expect((await client.query('SHOW fsync')).rows).toEqual([{ fsync: 'on' }]);
    await client.end();
    expect(running.output()).toContain(first.apiKey);
  });

  it('prints the console with a link that signs in once', async () => {
    expect(running.output()).toContain(first.consoleUrl);
    const { origin, pathname, hash } = new URL(first.consoleUrl);
    expect(`${origin}${pathname}`).toBe(`${first.publicUrl}/console/`);
    expect((await get(first.consoleUrl)).headers.get('content-type')).toContain('text/html');
    const body = JSON.stringify({ link: hash.replace('#link=', '') });
    const headers = { 'content-type': 'application/json' };
    const signIn = () => fetch(`${first.publicUrl}/platform/v1/sessions`, { method: 'POST', headers, body });
    expect([(await signIn()).status, (await signIn()).status]).toEqual([201, 401]);
  });

  it('exposes nothing to the network: each of its processes listens on loopback alone', () => {
    const listening = first.processes.map(({ role, pid }) => [role, listensOn(pid)] as const);
    expect(listening.filter(([, addresses]) => addresses.length > 0).map(([role]) => role)).toEqual(
      expect.arrayContaining(['api', 'maintenance', 'postgres', 'redis', 'worker']),
    );
    const LOOPBACK = ['0100007F', '00000000000000000000000001000000'];
    expect(new Set(listening.flatMap(([, addresses]) => addresses).filter((one) => !LOOPBACK.includes(one)))).toEqual(
      new Set(),
    );
  });

  it('brings the workers of a deployment by itself, names them, and lets them go with it', async () => {
    const roles = (): string[] => readRunFile().processes.map(({ role }) => role);
    await eventually('the fleet to run', () => roles().includes('fleet'));
    const ask = async (method: string, path: string, body?: object): Promise<Response> =>
      fetch(`${first.publicUrl}/platform/v1/deployments${path}`, {
        method,
        headers: { authorization: `Bearer ${first.apiKey}`, 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    const order = { name: 'a test', engine_class: 'cpu', min_workers: 1 };
    // The classes are known as soon as the fleet has read them.
    const made = await eventually('the class to be offered', async () => {
      const response = await ask('POST', '', order);
      return response.status === 201 && ((await response.json()) as { id: string });
    });
    await eventually('the deployment to be ready', async () => {
      return ((await (await ask('GET', `/${made.id}`)).json()) as { state: string }).state === 'ready';
    });
    await eventually('its worker to be named', () => roles().filter((role) => role === 'worker').length === 3);
    expect((await ask('DELETE', `/${made.id}`)).status).toBe(204);
    await eventually('its worker to be gone', () => roles().filter((role) => role === 'worker').length === 2);
  });

  it('refuses to start a second time on the same data, naming who holds it', async () => {
    const second = start();
    expect(await ended(second)).toBe(1);
    expect(second.output()).toBe(
      `A stack already runs on ${data} (pid ${running.child.pid}): stop it first, or choose another --data.\n`,
    );
  });

  it('refuses a port that is taken, naming it', async () => {
    const { port } = new URL(first.publicUrl);
    const second = start('--data', join(data, 'other'), '--port', port);
    expect(await ended(second)).toBe(1);
    expect(second.output()).toBe(
      `Port ${port} is already in use: choose another with --port N, or a free one with --port 0.\n`,
    );
  });

  it.each(['worker', 'api', 'maintenance', 'redis', 'postgres'])(
    'starts the %s again when it is killed, and says so in the run file',
    async (role) => {
      const killed = pidOf(role);
      process.kill(killed, 'SIGKILL');
      await eventually('another process has its role', () => !hasPid(killed) && identify(pidOf(role)));
      await eventually('the stack is whole again', async () => {
        const answer = await get(`${first.publicUrl}/api/v2/jobs`, first.apiKey).catch(() => undefined);
        return answer?.status === 200;
      });
    },
  );

  it('after being killed outright starts again with the same data, key and addresses', async () => {
    const left = readRunFile().processes;
    running.child.kill('SIGKILL');
    await ended(running);
    running = await startReady();
    expect(left.filter(({ pid }) => identify(pid) && !hasPid(pid))).toEqual([]);
    const { publicUrl, opsUrl, apiKey, databaseUrl } = readRunFile();
    expect({ publicUrl, opsUrl, apiKey, databaseUrl }).toEqual({
      publicUrl: first.publicUrl,
      opsUrl: first.opsUrl,
      apiKey: first.apiKey,
      databaseUrl: first.databaseUrl,
    });
    expect((await get(`${publicUrl}/api/v2/jobs`, apiKey)).status).toBe(200);
  });

  it('goes on with its account when the key of the last start was revoked, and says that the key is another', async () => {
    const accountOf = async ({ publicUrl, apiKey }: RunFile) =>
      (await (await get(`${publicUrl}/platform/v1/account`, apiKey)).json()) as { id: string; key: { id: string } };
    const old = readRunFile();
    const account = await accountOf(old);
    const key = `${old.opsUrl}/admin/v1/accounts/${account.id}/api-keys/${account.key.id}`;
    const headers = { authorization: `Bearer ${old.adminToken}` };
    expect((await fetch(key, { method: 'DELETE', headers })).status).toBe(204);
    running.child.kill('SIGKILL');
    await ended(running);
    running = await startReady();
    const { id, key: other } = await accountOf(readRunFile());
    expect([id, other.id === account.key.id]).toEqual([account.id, false]);
    expect(running.output()).toContain('The API key of the last start has ended: the account has another one.');
  });

  it('stops all of it on Ctrl-C, and nothing remains but the data', async () => {
    const { processes } = readRunFile();
    running.child.kill('SIGINT');
    expect(await ended(running)).toBe(0);
    expect(processes.filter(({ pid }) => identify(pid))).toEqual([]);
    expect(existsSync(join(data, 'run.json'))).toBe(false);
    expect(running.output().trim().split('\n').at(-1)).toBe('stopping…');
  });

  it('ends with the sentence of a process that refuses a setting, and leaves nothing running', async () => {
    const refused = start('--set', 'LEASE_SECONDS=soon');
    expect(await ended(refused)).toBe(1);
    expect(refused.output().trim().split('\n').at(-1)).toMatch(/MILLRACE_LEASE_SECONDS=soon is not valid/);
    expect(existsSync(join(data, 'run.json'))).toBe(false);
    expect(existsSync(join(data, 'processes.json'))).toBe(false);
  });
});
