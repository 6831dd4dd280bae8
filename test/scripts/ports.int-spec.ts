import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Scope } from '../../scripts/lib/command/scope.mjs';
import { DataFolder } from '../../scripts/lib/services/data-folder.mjs';
import { notePorts } from '../../scripts/lib/servers/servers.mjs';
import { choosePorts, claimPort } from '../../scripts/lib/stack/stack.mjs';
import { makeOwnFolder } from '../../scripts/lib/system/files.mjs';

const ANY = { port: 0, opsPort: 0 };
/** A process of another host. */
const UNSEEN = { pid: 4_321, startedAt: 'unknown' };

let scope: Scope;
let folder: DataFolder;
let server: Server;
let free: number;
beforeEach(async () => {
  scope = new Scope();
  folder = new DataFolder(mkdtempSync(join(tmpdir(), 'millrace-ports-')));
  server = createServer();
  await once(server.listen(0), 'listening');
  const address = server.address();
  free = typeof address === 'object' && address ? address.port : 0;
});
afterEach(async () => {
  server.close();
  await scope.close();
  rmSync(folder.path, { recursive: true });
});

const closed = (): Promise<unknown> => new Promise((resolve) => server.close(resolve));

it('the usual port is taken where it is free', async () => {
  await closed();
  expect((await choosePorts(folder, { ...ANY, usualPort: free }, scope)).port).toBe(free);
});

it('another port is taken where the usual one is not free', async () => {
  expect((await choosePorts(folder, { ...ANY, usualPort: free }, scope)).port).not.toBe(free);
});

it('addresses survive a restart, whichever the usual port is', async () => {
  await closed();
  notePorts(folder, { public: free, ops: 0 });
  expect((await choosePorts(folder, { ...ANY, usualPort: free + 1 }, scope)).port).toBe(free);
});

it('one stack at a time may take the port: of two that start together, the other takes another one', async () => {
  await closed();
  const first = new Scope();
  expect(await claimPort(first, free)).toBe(true);
  expect((await choosePorts(folder, { ...ANY, usualPort: free }, scope)).port).not.toBe(free);
  await first.close();
  expect(await claimPort(scope, free)).toBe(true);
});

it.each([
  ['of this machine by its process', null, (_path: string) => `(pid ${process.pid})`],
  [
    'of another host by its file too',
    { host: 'other', boot: 'other', pids: 'pid:[1]' },
    (path: string) => `(pid ${UNSEEN.pid} on other; if it runs no longer, remove ${path})`,
  ],
])('a port that another stack holds is named, and that stack: %s', async (_what, place, named) => {
  await closed();
  const said = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const first = new Scope();
  try {
    expect(await claimPort(first, free)).toBe(true);
    const locks = join(tmpdir(), `millrace-ports-${process.getuid?.() ?? ''}`);
    const path = join(locks, readdirSync(locks).find((name) => name.startsWith(`${free}-`)) ?? '');
    const record = JSON.parse(readFileSync(path, 'utf8')) as { place: object };
    if (place !== null) writeFileSync(path, JSON.stringify({ ...record, holder: UNSEEN, place }));
    expect(await claimPort(scope, free)).toBe(false);
    expect(said.mock.calls.join('')).toContain(`port ${free} ${named(path)}: this one takes another port.`);
  } finally {
    said.mockRestore();
    await first.close();
  }
});

describe('where other users may write beside it,', () => {
  it('a folder is made for this user alone, and refused where it is not that', () => {
    const path = (name: string): string => join(folder.path, name);
    expect([makeOwnFolder(path('own')), makeOwnFolder(path('own'))]).toEqual([true, true]);
    expect(statSync(path('own')).mode & 0o777).toBe(0o700);
    chmodSync(path('own'), 0o770);
    symlinkSync(mkdtempSync(path('theirs-')), path('link'));
    writeFileSync(path('file'), '');
    for (const name of ['own', 'link', 'file']) expect([name, makeOwnFolder(path(name))]).toEqual([name, false]);
  });

  it('no port is claimed in a folder that another user made, and another port is taken', async () => {
    await closed();
    // Only root may give files away: this process is another one's instead.
    const user = jest.spyOn(process, 'getuid').mockReturnValue(4_321);
    const planted = join(tmpdir(), 'millrace-ports-4321');
    mkdirSync(planted, { mode: 0o700 });
    try {
      expect(await claimPort(scope, free)).toBe(false);
      expect((await choosePorts(folder, { ...ANY, usualPort: free }, scope)).port).not.toBe(free);
      expect(readdirSync(planted)).toEqual([]);
    } finally {
      user.mockRestore();
      rmSync(planted, { recursive: true });
    }
  });
});
