import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { eventually } from './eventually';

const BOOT_MS = 180_000;
const ROOT = join(__dirname, '../../..');

export type ProcessRole = 'api' | 'worker' | 'maintenance' | 'fleet' | 'gateway';

/** One real process of ours, run from its build, with what it has logged. */
export class TestProcess {
  /** Every line that it has written, standard error included. */
  readonly lines: string[] = [];
  private ports: { port?: number; opsPort?: number } = {};
  private readonly ended: Promise<void>;
  private over = false;

  private constructor(
    readonly role: ProcessRole,
    private readonly child: ChildProcess,
  ) {
    this.ended = once(child, 'exit').then(() => void (this.over = true));
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.read(line));
    }
  }

  /** Start a process and wait until it serves. It ends with this one, however this one ends. */
  static async start(role: ProcessRole, env: NodeJS.ProcessEnv): Promise<TestProcess> {
    const main = join(ROOT, 'dist/bin', `${role}.js`);
    const child = spawn(process.execPath, [main], {
      env: { ...env, PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const started = new TestProcess(role, child);
    await eventually(`${role} to serve`, () => started.ports.opsPort !== undefined || started.over, BOOT_MS).catch(
      async (error: unknown) => {
        await started.end();
        throw error;
      },
    );
    if (started.over) throw new Error(`${role} ended instead of serving:\n${started.lines.join('\n')}`);
    return started;
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  get isRunning(): boolean {
    return !this.over;
  }

  /** Origin of the public listener. */
  get publicUrl(): string {
    return `http://127.0.0.1:${this.ports.port}`;
  }

  get opsUrl(): string {
    return `http://127.0.0.1:${this.ports.opsPort}`;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** End it at once, or as `signal` has it, and wait until it is gone. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.over) return;
    this.child.kill(signal);
    await this.ended;
  }

  private read(line: string): void {
    this.lines.push(line);
    if (!line.startsWith('{')) return;
    const record = JSON.parse(line) as { port?: number; opsPort?: number };
    if (record.opsPort !== undefined) this.ports = record;
  }
}
