import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { childProcesses } from './child-processes';

const READY_POLL_MS = 50;
const REVIVE_MS = 100;
/** After an end of its own a process gets this long before the next try: what it needs may be away. */
const RETRY_MS = 400;

/** How a process of the stack is started, found ready, and stopped. */
export interface MemberSpec {
  role: string;
  name: string;
  commandLine: string[];
  options?: { cwd?: string; env?: NodeJS.ProcessEnv; uid?: number; gid?: number };
  ipc?: boolean;
  logFile: string;
  isReady: (pid: number) => Promise<boolean>;
  stopSteps: { signal: NodeJS.Signals; waitMs: number }[];
}

/** One process that is started again whenever it ends, for as long as the run lasts. */
export class Member {
  private child: ChildProcess | null = null;
  private stopping = false;
  private ready = false;
  private expected = false;
  private wakeRevival: () => void = () => undefined;
  /** Times it was started. */
  starts = 0;
  /** Ends that were not asked for, also by a signal (it aborts, or the kernel ends it), after it had been ready: none of them should be. */
  readonly collapses: string[] = [];
  frozen = false;

  constructor(readonly spec: MemberSpec) {}

  get pid(): number | null {
    return this.child?.exitCode === null && this.child.signalCode === null ? (this.child.pid ?? null) : null;
  }

  /** Start it and see that it stays. Resolves when it is ready the first time. */
  async start(): Promise<void> {
    this.launch();
    await this.untilReady(60_000);
  }

  /** @throws when it is not ready within `withinMs`. */
  async untilReady(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!this.ready) {
      if (Date.now() > deadline) throw new Error(`${this.spec.name} was not ready in time; see ${this.spec.logFile}`);
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
  }

  get isReady(): boolean {
    return this.ready;
  }

  /** Signal it, meaning its end. @returns false when there is nothing to signal. */
  kill(signal: NodeJS.Signals): boolean {
    if (this.pid === null) return false;
    this.expected = true;
    return this.child?.kill(signal) ?? false;
  }

  /** Signal the processes that it has started itself. @returns how many there were. */
  killChildren(signal: NodeJS.Signals): number {
    const children = this.pid === null ? [] : childProcesses(this.pid);
    for (const pid of children) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended.
      }
    }
    return children.length;
  }

  freeze(): boolean {
    if (this.pid === null) return false;
    this.frozen = this.child?.kill('SIGSTOP') ?? false;
    return this.frozen;
  }

  thaw(): void {
    if (this.frozen && this.pid !== null) this.child?.kill('SIGCONT');
    this.frozen = false;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.wakeRevival();
    this.thaw();
    const { child } = this;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    for (const { signal, waitMs } of this.spec.stopSteps) {
      if (this.pid === null) return;
      child.kill(signal);
      await Promise.race([ended, pause(waitMs)]);
    }
  }

  private launch(): void {
    const { commandLine, options, ipc, logFile } = this.spec;
    const [command = '', ...args] = commandLine;
    mkdirSync(dirname(logFile), { recursive: true });
    const log = openSync(logFile, 'a');
    const child = spawn(command, args, {
      ...options,
      detached: true,
      stdio: ipc === true ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    });
    closeSync(log);
    child.channel?.unref();
    child.on('error', () => undefined);
    this.child = child;
    this.starts += 1;
    this.ready = false;
    this.expected = false;
    this.frozen = false;
    child.once('exit', (code, signal) => void this.ended(code, signal));
    void this.watch(child);
  }

  private async watch(child: ChildProcess): Promise<void> {
    while (this.child === child && this.pid !== null && !this.ready) {
      if (child.pid !== undefined && (await this.spec.isReady(child.pid)) && this.child === child) this.ready = true;
      else await pause(READY_POLL_MS);
    }
  }

  private async ended(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    const wasReady = this.ready;
    this.ready = false;
    if (this.stopping) return;
    const byItself = !this.expected;
    const how = signal === null ? `with code ${code}` : `by ${signal}`;
    if (byItself && wasReady) this.collapses.push(`${this.spec.name} ended ${how}; see ${this.spec.logFile}`);
    await Promise.race([
      pause(byItself ? RETRY_MS : REVIVE_MS),
      new Promise<void>((wake) => (this.wakeRevival = wake)),
    ]);
    if (!this.stopping) this.launch();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
