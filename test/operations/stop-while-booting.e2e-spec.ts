import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  createTestDatabase,
  createTestFolder,
  testRedisUrl,
  type TestDatabase,
  type TestFolder,
} from '@millrace/testing';

const ROOT = join(__dirname, '..', '..');
/**
 * Exit code of a process that took the signal itself. One that does not listen for it is ended by the kernel and has no code; as the
 * first process of a container it would not be ended at all.
 */
const BY_SIGTERM = 143;
const PROCESSES = ['api', 'worker', 'maintenance', 'fleet', 'gateway'].map((name) => `dist/bin/${name}.js`);

/** Sends a process the signal before it has loaded anything of its own. */
const SIGTERM_WHILE_LOADING = `
  const Module = require('node:module');
  const load = Module._load;
  Module._load = function (name, ...rest) {
    if (name === './packages.js') process.kill(process.pid, 'SIGTERM');
    return load.call(this, name, ...rest);
  };`;

/** A server that takes connections and never answers: what a hung PostgreSQL or ComfyUI is. */
class HungServer {
  readonly connected: Promise<unknown>;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.sockets.add(socket.on('error', () => undefined)));
    this.connected = once(server, 'connection');
  }

  static async open(): Promise<HungServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HungServer(server);
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

let test: TestDatabase;
let folder: TestFolder;
let hung: HungServer;

beforeAll(async () => {
  test = await createTestDatabase();
  folder = await createTestFolder();
});
beforeEach(async () => {
  hung = await HungServer.open();
});
afterEach(() => hung.close());
afterAll(async () => {
  await folder.drop();
  await test.drop();
});

/** Start a command, send it SIGTERM when it waits for the hung server, and wait for its end. */
async function stopped(command: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; log: string }> {
  const child = spawn(process.execPath, [join(ROOT, command)], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: test.url,
      REDIS_URL: testRedisUrl(),
      MILLRACE_BLOB_DIR: folder.path,
      MILLRACE_WORK_DIR: join(folder.path, 'work'),
      MILLRACE_POOL: `booting-${randomBytes(6).toString('hex')}`,
      MILLRACE_SECRET_KEY: randomBytes(32).toString('base64'),
      MILLRACE_ADMIN_TOKEN: randomBytes(16).toString('hex'),
      MILLRACE_DRAIN_SECONDS: '3600',
      MILLRACE_STOP_SECONDS: '3601',
      MILLRACE_PORT: '0',
      MILLRACE_OPS_PORT: '0',
      MILLRACE_GATEWAY_PORT: '0',
      ...env,
    },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (log += text.toString()));
  const ended = once(child, 'exit');
  await Promise.race([hung.connected, ended]);
  child.kill('SIGTERM');
  await ended;
  return { code: child.exitCode, log };
}

describe('a process that is stopped while it boots', () => {
  it.each(PROCESSES)('%s ends, though it has not loaded its packages yet', async (command) => {
    const preload = join(folder.path, 'preload.cjs');
    writeFileSync(preload, SIGTERM_WHILE_LOADING);
    const env = { DATABASE_URL: `postgresql://a:b@${hung.address}/c`, NODE_OPTIONS: `--require=${preload}` };
    expect(await stopped(command, env)).toMatchObject({ code: BY_SIGTERM });
  });

  it.each([
    ...PROCESSES.map((command): [string, number] => [command, BY_SIGTERM]),
    // It waits for the connection to fail, and says so.
    ['scripts/migrate.mjs', 1],
  ])('%s ends, though PostgreSQL does not answer', async (command, code) => {
    const end = await stopped(command, { DATABASE_URL: `postgresql://a:b@${hung.address}/c` });
    expect(end).toEqual({ code, log: expect.stringContaining('stopping') as string });
  });

  it.each([
    ['attached', (address: string) => ({ MILLRACE_COMFYUI_URL: `http://${address}` })],
    ['of its own', (address: string) => hungCommand(address)],
  ])('a worker ends, though its ComfyUI, %s, does not answer', async (_, engine) => {
    const env = { MILLRACE_ENGINE: 'comfyui', MILLRACE_COMFYUI_START_SECONDS: '3600', ...engine(hung.address) };
    const end = await stopped('dist/bin/worker.js', env);
    expect(end.log).not.toContain('stopping took too long');
    expect(end).toEqual({ code: BY_SIGTERM, log: expect.stringContaining('"stopped"') as string });
  });
});

describe('a worker outside the cluster that is stopped while it boots', () => {
  it('ends, though its gateway does not answer', async () => {
    const env = {
      DATABASE_URL: undefined,
      REDIS_URL: undefined,
      MILLRACE_SECRET_KEY: undefined,
      MILLRACE_BLOB_DIR: undefined,
      MILLRACE_POOL: undefined,
      MILLRACE_GATEWAY_URL: `http://${hung.address}`,
      MILLRACE_GATEWAY_TOKEN: `mrw_${randomBytes(32).toString('base64url')}`,
    };
    const end = await stopped('dist/bin/worker.js', env);
    expect(end).toEqual({ code: BY_SIGTERM, log: expect.stringContaining('stopping') as string });
  });
});

/** A ComfyUI that connects somewhere as it starts, and never opens its port. */
function hungCommand(address: string): NodeJS.ProcessEnv {
  const [host = '', port] = address.split(':');
  const script = join(folder.path, 'main.js');
  writeFileSync(script, `require('node:net').connect(${port}, '${host}'); setInterval(() => undefined, 1e9);`);
  return { MILLRACE_COMFYUI_COMMAND: `${process.execPath} ${script}`, MILLRACE_COMFYUI_DIR: folder.path };
}
