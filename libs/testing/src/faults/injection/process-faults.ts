import { setTimeout as pause } from 'node:timers/promises';
import { isErasing } from '../load';
import { isFaultKind } from './fault-kinds';
import type { Member } from './member';
import type { Harm } from './victims';

/** Of these the last that serves is spared, most times: work must go on for faults to have something to break. */
const NEEDED = ['api', 'worker', 'gateway'];
const SPARE_LAST = 0.85;
/** How often the process of a sick engine is ended: less than it needs to come up. */
const SICK_EVERY_MS = 50;
/** How long an erasure is waited for, which takes some seconds, and how often it is looked for. */
const ERASURE_SOUGHT_MS = 5_000;
const ERASURE_POLL_MS = 100;

/** Faults of processes of the service, one at a time. */
export class ProcessFaults {
  private readonly thawing = new Set<Promise<void>>();

  constructor(private readonly harm: Harm) {}

  kill(): void {
    this.end('kill', 'SIGKILL');
  }

  /** Ask a process to go in order, as a deployment of the next version does; it is started again when it has gone. */
  stop(): void {
    this.end('stop', 'SIGTERM');
  }

  /** Stop a worker past its lease, beside everything else that happens meanwhile; it then goes on as if nothing had. */
  freeze(): void {
    const { random, victims } = this.harm;
    const awake = this.workers().filter((worker) => !worker.frozen);
    const serving = awake.filter((worker) => worker.isReady && !this.spares(worker));
    const worker = serving.length > 0 ? random.pick(serving) : awake.find((one) => !one.isReady);
    if (worker === undefined || !worker.freeze()) return;
    this.count(`freeze ${worker.spec.role}`);
    const frozen = pause(victims.leaseMs + random.whole(300, 1_500)).then(() => worker.thaw());
    this.thawing.add(frozen);
    void frozen.finally(() => this.thawing.delete(frozen));
  }

  /** Resolves when each worker that was frozen goes on. */
  async untilThawed(): Promise<void> {
    await Promise.all(this.thawing);
  }

  /** The engine of a worker that goes on loses its process, and each successor, for a while: the worker is well, its engine is not. */
  async sickenEngine(): Promise<void> {
    const { random, until } = this.harm;
    const workers = this.workers().filter((member) => member.isReady && !member.frozen);
    const worker = workers.length === 0 ? undefined : random.pick(workers);
    if (worker === undefined || worker.killChildren('SIGKILL') === 0) return;
    this.count(`sick engine of ${worker.spec.role}`);
    const end = Date.now() + random.whole(200, 3_000);
    while (!until.aborted && Date.now() < end) {
      await this.harm.pause(SICK_EVERY_MS);
      worker.killChildren('SIGKILL');
    }
  }

  /** At any moment of an erasure: in the middle of a step, or between two. */
  async killInErasure(): Promise<void> {
    const { random, until, victims } = this.harm;
    const { apps, databaseUrl } = victims;
    const end = Date.now() + ERASURE_SOUGHT_MS;
    while (!until.aborted && Date.now() < end && !(await isErasing(databaseUrl)))
      await this.harm.pause(ERASURE_POLL_MS);
    await this.harm.pause(random.whole(0, 300));
    if (until.aborted || !(await isErasing(databaseUrl))) return;
    const maintenance = apps.find((member) => member.spec.role === 'maintenance' && member.isReady);
    if (maintenance?.kill('SIGKILL') === true) this.harm.count('maintenance dies in an erasure');
  }

  private end(how: 'kill' | 'stop', signal: NodeJS.Signals): void {
    const serving = this.harm.victims.apps.filter((member) => member.isReady && !this.spares(member));
    const member = serving.length === 0 ? undefined : this.harm.random.pick(serving);
    if (member?.kill(signal) === true) this.count(`${how} ${member.spec.role}`);
  }

  private workers(): Member[] {
    return this.harm.victims.apps.filter(({ spec }) => spec.role.endsWith('worker'));
  }

  private spares(member: Member): boolean {
    const { role } = member.spec;
    if (!NEEDED.includes(role)) return false;
    const others = this.harm.victims.apps.some(
      (other) => other !== member && other.spec.role === role && other.isReady && !other.frozen,
    );
    return !others && this.harm.random.chance(SPARE_LAST);
  }

  private count(kind: string): void {
    if (!isFaultKind(kind)) throw new Error(`"${kind}" is no kind of fault`);
    this.harm.count(kind);
  }
}
