import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { lastMessage } from './last-message';
import type { FleetMember } from './fleet';

/** How a worker is started as a process of this machine. */
export interface WorkerProgram {
  id: string;
  commandLine: readonly string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  revision: string;
  /** How long it may take to stop, in milliseconds. Then it is killed. */
  stopMs: number;
}

/** One worker as a child of this process. It ends in order when this process is gone: its channel closes. */
export class WorkerProcess {
  private readonly child: ChildProcess;
  private readonly startedAt = new Date();
  private readonly logFrom: number;
  private stopping = false;
  private failure: string | null = null;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;

  constructor(private readonly program: WorkerProgram) {
    const { commandLine, env, logFile } = program;
    mkdirSync(dirname(logFile), { recursive: true });
    const log = openSync(logFile, 'a', 0o600);
    this.logFrom = statSync(logFile).size;
    const [command = '', ...args] = commandLine;
    // Its own process group: Ctrl-C in a terminal reaches this process alone, which then stops its workers in order.
    this.child = spawn(command, args, { env, detached: true, stdio: ['ignore', log, log, 'ipc'] });
    closeSync(log);
    this.child.channel?.unref();
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        if (!this.stopping) this.failure ??= lastMessage(logFile, this.logFrom) ?? `its worker ${how}`;
        resolve();
      };
      this.child.once('error', (error) => end(error.message));
      this.child.once('exit', (code, signal) =>
        end(signal === null ? `ended with code ${code}` : `was ended by ${signal}`),
      );
    });
  }

  get id(): string {
    return this.program.id;
  }

  get pid(): number | null {
    return this.child.pid ?? null;
  }

  get isOver(): boolean {
    return this.failure !== null || this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** True when it ended without being asked to. */
  get hasFailed(): boolean {
    return this.failure !== null;
  }

  /** Ask it to stop in order. Resolves when it is gone; it is killed when that takes too long. */
  async stop(): Promise<void> {
    if (!this.stopping && !this.isOver) {
      this.stopping = true;
      this.child.kill('SIGTERM');
      const timer = setTimeout(() => this.child.kill('SIGKILL'), this.program.stopMs);
      void this.ended.then(() => clearTimeout(timer));
    }
    await this.ended;
  }

  member(): FleetMember {
    const phase = this.failure !== null ? 'failed' : this.stopping ? 'stopping' : 'running';
    const { id, revision } = this.program;
    return { id, phase, reason: this.failure, revision, startedAt: this.startedAt, host: hostname(), pid: this.pid };
  }
}
