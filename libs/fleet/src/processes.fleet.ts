import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Fleet, Group, GroupOrder } from './fleet';
import { WorkerProcess } from './worker-process';

/** What the workers of this machine are started with. */
export interface WorkerProcesses {
  /** The program of a worker, and its arguments. */
  commandLine: readonly string[];
  /** What all of them have in common. */
  env: NodeJS.ProcessEnv;
  /** Each worker has a log of its own there. */
  logFolder: string;
  /** Each worker has a folder of its own below. */
  workFolder: string;
  stopMs: number;
}

/** Workers as processes of this machine, children of this process. They end with it, however it ends. */
export class ProcessFleet implements Fleet {
  readonly name = 'processes';
  private readonly groups = new Map<string, WorkerProcess[]>();

  constructor(private readonly settings: WorkerProcesses) {}

  async observe(): Promise<Group[]> {
    for (const [poolId, group] of this.groups) {
      const left = group.filter((process) => !process.isOver || process.hasFailed);
      if (left.length > 0) this.groups.set(poolId, left);
      else this.groups.delete(poolId);
    }
    return [...this.groups].map(([poolId, group]) => ({ poolId, members: group.map((process) => process.member()) }));
  }

  /** Does its work before it returns to the event loop: two orders at once are one after the other. */
  async apply({ poolId, engineClass, size, leaving }: GroupOrder): Promise<void> {
    const group = this.groups.get(poolId) ?? [];
    for (const process of group) if (leaving.includes(process.id)) void process.stop();
    const living = group.filter((process) => process.member().phase === 'running');
    const missing = Math.max(0, size - living.length);
    const kept = missing > 0 || size === 0 ? group.filter((process) => !process.hasFailed) : group;
    const started = Array.from({ length: missing }, () => this.start(poolId, engineClass));
    this.groups.set(poolId, [...kept, ...started]);
  }

  async dissolve(poolId: string): Promise<void> {
    const group = this.groups.get(poolId) ?? [];
    for (const process of group) void process.stop();
    this.groups.set(
      poolId,
      group.filter((process) => !process.hasFailed),
    );
  }

  async resign(): Promise<void> {
    const all = [...this.groups.values()].flat();
    await Promise.all(all.map((process) => process.stop()));
    this.groups.clear();
  }

  private start(poolId: string, { engine, revision, settings }: GroupOrder['engineClass']): WorkerProcess {
    const id = `worker-of-${poolId.slice(-12)}-${randomBytes(3).toString('hex')}`;
    const own = {
      MILLRACE_POOL: poolId,
      MILLRACE_ENGINE: engine,
      MILLRACE_OPS_PORT: '0',
      MILLRACE_WORK_DIR: join(this.settings.workFolder, id),
    };
    const { commandLine, env, stopMs, logFolder } = this.settings;
    const logFile = join(logFolder, `${id}.log`);
    return new WorkerProcess({ id, commandLine, env: { ...env, ...settings, ...own }, logFile, revision, stopMs });
  }
}
