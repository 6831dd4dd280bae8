import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@millrace/testing';
import { claimFolder } from '../../scripts/lib/services/data-folder.mjs';
import { Fleet } from '../../scripts/lib/services/fleet.mjs';
import { readiness } from '../../scripts/lib/services/health.mjs';
import { identify } from '../../scripts/lib/system/processes.mjs';
import { Scope } from '../../scripts/lib/command/scope.mjs';
import type { ServiceSpec } from '../../scripts/lib/services/service.mjs';

const LIB = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'lib')).href;

let path: string;
let scope: Scope;
let fleet: Fleet;
let said: string[];

beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), 'millrace-service-'));
  scope = new Scope();
  fleet = new Fleet(scope, await claimFolder(scope, path));
  said = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
});
afterEach(async () => {
  expect(await scope.close()).toEqual([]);
  jest.restoreAllMocks();
  rmSync(path, { recursive: true });
});

/** A service whose process runs `code`, and is ready once it has written its pid to its log. */
function serviceOf(name: string, code: string): ServiceSpec {
  const logFile = join(path, 'logs', `${name}.log`);
  return {
    role: name,
    name,
    commandLine: [process.execPath, '-e', code],
    logFile,
    isReady: (pid) => Promise.resolve(readFileSync(logFile, 'utf8').includes(`ready ${pid}\n`)),
    stopSteps: [
      { signal: 'SIGTERM', waitMs: 60_000 },
      { signal: 'SIGKILL', waitMs: 60_000 },
    ],
  };
}

const READY = "console.log('ready ' + process.pid); setInterval(() => {}, 1000);";

function pidOf(name: string): number | undefined {
  return fleet.services.find(({ spec }) => spec.name === name)?.identity?.pid;
}

it('a service that is killed runs again, under a new pid that is reported', async () => {
  const changed = jest.fn();
  fleet.changed = changed;
  await fleet.start([serviceOf('a', READY)]);
  const first = pidOf('a');
  changed.mockClear();
  process.kill(first ?? 0, 'SIGKILL');
  await eventually('another process runs', () => pidOf('a') !== first && identify(pidOf('a') ?? 0));
  expect(changed).toHaveBeenCalled();
  expect(said.join('')).toBe('a was ended by SIGKILL; starting it again.\n');
});

it('a service that is restarted runs under a new pid, and is kept alive like before', async () => {
  await fleet.start([serviceOf('a', READY), serviceOf('b', READY)]);
  const [a, b] = [pidOf('a'), pidOf('b')];
  await fleet.restart(fleet.services.filter(({ spec }) => spec.name === 'a'));
  const second = pidOf('a');
  expect([second !== a, pidOf('b') === b, identify(a ?? 0)]).toEqual([true, true, undefined]);
  expect(said).toEqual([]);
  process.kill(second ?? 0, 'SIGKILL');
  await eventually('another process runs', () => pidOf('a') !== second && identify(pidOf('a') ?? 0));
});

it('a restart that fails says why, and the next one may succeed', async () => {
  const gate = join(path, 'gate');
  const code = `if (require('fs').existsSync(${JSON.stringify(gate)})) { console.error('No.'); process.exit(1); } ${READY}`;
  await fleet.start([serviceOf('a', code)]);
  writeFileSync(gate, '');
  await expect(fleet.restart(fleet.services)).rejects.toThrow('a could not start: No.');
  rmSync(gate);
  await fleet.restart(fleet.services);
  expect(identify(pidOf('a') ?? 0)).toBeDefined();
  expect(scope.signal.aborted).toBe(false);
});

it('a restart of several starts each again, also those after one that fails', async () => {
  const gate = join(path, 'gate');
  const code = `if (require('fs').existsSync(${JSON.stringify(gate)})) { console.error('No.'); process.exit(1); } ${READY}`;
  const others = ['b', 'c', 'd', 'e', 'f', 'g', 'h'];
  await fleet.start([serviceOf('a', code), ...others.map((name) => serviceOf(name, READY))]);
  const before = others.map(pidOf);
  writeFileSync(gate, '');
  await expect(fleet.restart(fleet.services)).rejects.toThrow('a could not start: No.');
  others.forEach((name, nth) => expect(pidOf(name)).not.toBe(before[nth]));
  expect(others.map((name) => identify(pidOf(name) ?? 0))).not.toContain(undefined);
});

it('a service that does not stay up ends the stack with its last words', async () => {
  await fleet.start([
    serviceOf('a', `${READY} setTimeout(() => { console.error('No more.'); process.exit(3); }, 100);`),
  ]);
  await eventually('the stack ends', () => scope.signal.aborted);
  expect((scope.signal.reason as Error).message).toBe('a does not stay up: No more.');
});

it('a service that cannot start fails with its sentence, and is not tried again', async () => {
  const start = fleet.start([serviceOf('a', "console.error('PORT=x is not valid.'); process.exit(1);")]);
  await expect(start).rejects.toThrow('a could not start: PORT=x is not valid.');
  expect(said).toEqual([]);
});

it('a start that is broken off leaves nothing running', async () => {
  const start = fleet.start([serviceOf('slow', 'setInterval(() => {}, 1000);')]);
  const pid = await eventually('its process runs', () => pidOf('slow'));
  scope.end(new Error('enough'));
  await expect(start).rejects.toThrow('enough');
  await scope.close();
  expect(identify(pid)).toBeUndefined();
});

it('services stop in the reverse order of their start, each before the next is asked', async () => {
  const log = join(path, 'order');
  const leave = (name: string): string =>
    `process.on('SIGTERM', () => setTimeout(() => { require('fs').appendFileSync(${JSON.stringify(log)}, '${name} '); process.exit(); }, 50));`;
  await fleet.start([serviceOf('first', leave('first') + READY)]);
  await fleet.start([serviceOf('second', leave('second') + READY)]);
  await scope.close();
  expect(readFileSync(log, 'utf8')).toBe('second first ');
});

it('a folder that is held names its holder', async () => {
  await expect(claimFolder(new Scope(), path)).rejects.toThrow(
    `A stack already runs on ${path} (pid ${process.pid}): stop it first, or choose another --data.`,
  );
});

it('what a killed holder of a folder left running is ended by the next one', async () => {
  await scope.close();
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `const [{ Scope }, { Fleet, claimFolder }] = await Promise.all(
       ['command', 'services'].map((room) => import(${JSON.stringify(LIB)} + '/' + room + '/index.mjs')));
     const scope = new Scope();
     const fleet = new Fleet(scope, await claimFolder(scope, ${JSON.stringify(path)}));
     await fleet.start([{ role: 'a', name: 'a', commandLine: [process.execPath, '-e', 'setInterval(() => {}, 1000)'],
       logFile: ${JSON.stringify(join(path, 'a.log'))}, isReady: async () => true,
       stopSteps: [{ signal: 'SIGTERM', waitMs: 60_000 }] }]);
     console.log(fleet.services[0].identity.pid);
     setInterval(() => {}, 1000);`,
  ]);
  const [said] = (await once(holder.stdout, 'data')) as [Buffer];
  const left = Number(said.toString());
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(identify(left)).toBeDefined();
  await claimFolder(scope, path);
  expect(identify(left)).toBeUndefined();
});

it('a service that does not become ready says why, as far as it says so itself', async () => {
  const later = Date.now() + 181_000;
  const service: ServiceSpec = {
    ...serviceOf('a', 'setInterval(() => {}, 1000)'),
    isReady: () => {
      jest.spyOn(Date, 'now').mockReturnValue(later);
      return Promise.resolve(false);
    },
    readiness: () => Promise.resolve('worker: it starts'),
  };
  await expect(fleet.start([service])).rejects.toThrow(
    `a was not ready within three minutes (worker: it starts); see ${service.logFile}.`,
  );
});

it('the readiness of a process is what its checks found, and nothing where nobody answers', async () => {
  const found = {
    status: 'error',
    error: { database: { status: 'down', message: 'away' }, worker: { status: 'down' } },
  };
  const server = createServer((_, response) => response.writeHead(503).end(JSON.stringify(found)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await readiness(port)).toBe('database: away; worker: down');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await readiness(port)).toBe('');
});
