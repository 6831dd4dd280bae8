import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@millrace/testing';
import { freePort } from '../../../scripts/lib/system/ports.mjs';

/** A Redis of one test, to be emptied, killed and started again. It keeps nothing on disk. */
export class OwnRedis {
  private constructor(
    private readonly program: string,
    readonly port: number,
    private child: ChildProcess,
  ) {}

  static async start(): Promise<OwnRedis> {
    const program = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);
    if (program === undefined) throw new Error('there is no Redis server on the PATH');
    const port = await freePort();
    const redis = new OwnRedis(program, port, run(program, port));
    await redis.answers();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Send a command of plain words. @returns the reply as it is on the wire. */
  async command(...words: string[]): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.write(`${words.join(' ')}\r\n`);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return reply.toString();
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }

  async restart(): Promise<void> {
    await this.kill();
    this.child = run(this.program, this.port);
    await this.answers();
  }

  private async answers(): Promise<void> {
    await eventually('Redis to answer', async () => (await this.command('PING').catch(() => '')).startsWith('+PONG'));
  }
}

function run(program: string, port: number): ChildProcess {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  return spawn(program, args, { stdio: 'ignore' });
}
