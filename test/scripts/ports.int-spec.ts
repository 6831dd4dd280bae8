import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Scope } from '../../scripts/lib/command/scope.mjs';
import { DataFolder } from '../../scripts/lib/services/data-folder.mjs';
import { notePorts } from '../../scripts/lib/servers/servers.mjs';
import { choosePorts, claimPort } from '../../scripts/lib/stack/stack.mjs';

const ANY = { port: 0, opsPort: 0 };

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
