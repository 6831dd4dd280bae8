import { Redis } from 'ioredis';
import { LockHolder } from './lock-holder';
import type { DeploymentWorkers } from './deployment-workers';
import { isErasing } from './erasure-client';
import { FAULT_KINDS, isFaultKind, type FaultKind } from './fault-kinds';
import type { FaultProxy } from './fault-proxy';
import type { History } from './history';
import type { HookReceiver } from './hook-receiver';
import type { Member } from './member';
import type { ModelWorkers } from './model-workers';
import type { Random } from './random';

/** What faults are done to. */
export interface Victims {
  apps: Member[];
  /** The controller that runs the workers of a deployment. */
  fleet: Member;
  deploymentWorkers: DeploymentWorkers;
  postgres: Member;
  redis: Member;
  /** Of the server itself, past its proxy. */
  redisUrl: string;
  /** As well past its proxy. */
  databaseUrl: string;
  /** Of webhooks. */
  receiver: Pick<HookReceiver, 'behave'>;
  /** `models`: of the store, for the workers that fetch models. `link`: of the gateway, for workers outside. */
  proxies: Record<'postgres' | 'redis' | 's3' | 'models' | 'link', FaultProxy>;
  modelWorkers: ModelWorkers;
  leaseMs: number;
}

/** Pauses between two faults of one family, in milliseconds: in five minutes several of each kind, hundreds together. */
const PACE = {
  kill: [500, 2_000],
  freeze: [1_800, 3_200],
  stop: [2_500, 5_000],
  flush: [1_500, 3_500],
  restartRedis: [2_500, 5_000],
  restartPostgres: [8_000, 13_000],
  sicken: [1_500, 4_000],
  // A controller that was killed leads again when its lease of 10 s has ended.
  killFleet: [13_000, 20_000],
  loseNode: [5_000, 9_000],
  lock: [1_500, 3_500],
  network: [300, 1_000],
  receiver: [500, 2_000],
  stallModels: [1_500, 4_000],
  killErasure: [1_500, 5_000],
} as const;

/** How long a fetch is waited for, and how often it is looked for one: most of them are over in a tenth of a second. */
const FETCH_SOUGHT_MS = 5_000;
const FETCH_POLL_MS = 5;
/** The same of an erasure, which takes some seconds. */
const ERASURE_SOUGHT_MS = 5_000;
const ERASURE_POLL_MS = 100;

const SPARE_LAST = 0.85;
/** How often the process of a sick engine is ended: less than it needs to come up. */
const SICK_EVERY_MS = 50;

/** What holds for a while. */
const HELD = { lose: 'down', mute: 'silence', linger: 'linger' } as const;
const NETWORK = ['slow', 'lose', 'reset', 'cut', 'mute', 'linger'] as const;

/** Injects faults into a stack until it is stopped, and counts them. */
export class Injector {
  readonly counts = new Map<FaultKind, number>(FAULT_KINDS.map((kind) => [kind, 0]));
  private readonly thawing = new Set<Promise<void>>();

  constructor(
    private readonly victims: Victims,
    private readonly history: History,
    private readonly random: Random,
    private readonly until: AbortSignal,
  ) {}

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves when the signal has aborted and everything is as it was. */
  async run(): Promise<void> {
    await Promise.all([
      this.every('kill', () => this.killOne()),
      this.every('freeze', () => this.freezeOne()),
      this.every('stop', () => this.stopOne()),
      this.every('sicken', () => this.sickenEngine()),
      this.every('killFleet', () => this.killFleet()),
      this.every('loseNode', () => this.loseNode()),
      this.every('flush', () => this.emptyRedis()),
      this.every('restartRedis', () => this.restartRedis()),
      this.every('restartPostgres', () => this.restartPostgres()),
      this.every('network', () => this.hitNetwork()),
      this.every('lock', () => this.holdLock()),
      this.every('receiver', () => this.hitReceiver()),
      this.every('stallModels', () => this.stallModels()),
      this.every('killErasure', () => this.killInErasure()),
    ]);
    await Promise.all(this.thawing);
    this.victims.receiver.behave({ kind: 'open' });
    for (const proxy of Object.values(this.victims.proxies)) {
      proxy.cutReplies(0, 0);
      proxy.behave({ kind: 'open' });
    }
  }

  private async every(family: keyof typeof PACE, strike: () => Promise<void> | void): Promise<void> {
    const [least, most] = PACE[family];
    for (;;) {
      await this.pause(this.random.whole(least, most));
      if (this.until.aborted) return;
      await strike();
    }
  }

  private count(kind: FaultKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  private killOne(): void {
    this.end('kill', 'SIGKILL');
  }

  /** Ask a process to go in order, as a deployment of the next version does; it is started again when it has gone. */
  private stopOne(): void {
    this.end('stop', 'SIGTERM');
  }

  private end(how: 'kill' | 'stop', signal: NodeJS.Signals): void {
    const serving = this.victims.apps.filter((member) => member.isReady && !this.spares(member));
    const member = serving.length === 0 ? undefined : this.random.pick(serving);
    if (member === undefined || !member.kill(signal)) return;
    const kind = `${how} ${member.spec.role}`;
    if (isFaultKind(kind)) this.count(kind);
  }

  /** True for the last of its role that serves, most times: work must go on for faults to have something to break. */
  private spares(member: Member): boolean {
    const { role } = member.spec;
    if (role === 'maintenance') return false;
    const others = this.victims.apps.some(
      (other) => other !== member && other.spec.role === role && other.isReady && !other.frozen,
    );
    return !others && this.random.chance(SPARE_LAST);
  }

  /** Stop a worker past its lease, beside everything else that happens meanwhile; it then goes on as if nothing had. */
  private freezeOne(): void {
    const awake = this.victims.apps.filter((member) => member.spec.role === 'worker' && !member.frozen);
    const worker = awake.find((member) => member.isReady && !this.spares(member)) ?? awake.find((one) => !one.isReady);
    if (worker === undefined || !worker.freeze()) return;
    this.count('freeze worker');
    const frozen = pause(this.victims.leaseMs + this.random.whole(300, 1_500)).then(() => worker.thaw());
    this.thawing.add(frozen);
    void frozen.finally(() => this.thawing.delete(frozen));
  }

  /** The engine of a worker that goes on loses its process, and each successor, for a while: the worker is well, its engine is not. */
  private async sickenEngine(): Promise<void> {
    const workers = this.victims.apps.filter(
      (member) => member.spec.role === 'worker' && member.isReady && !member.frozen,
    );
    const worker = workers.length === 0 ? undefined : this.random.pick(workers);
    if (worker === undefined || worker.killChildren('SIGKILL') === 0) return;
    this.count('sick engine');
    const end = Date.now() + this.random.whole(200, 3_000);
    while (!this.until.aborted && Date.now() < end) {
      await this.pause(SICK_EVERY_MS);
      worker.killChildren('SIGKILL');
    }
  }

  /** At any moment of an erasure: in the middle of a step, or between two. */
  private async killInErasure(): Promise<void> {
    const { apps, databaseUrl } = this.victims;
    const end = Date.now() + ERASURE_SOUGHT_MS;
    while (!this.until.aborted && Date.now() < end && !(await isErasing(databaseUrl)))
      await this.pause(ERASURE_POLL_MS);
    await this.pause(this.random.whole(0, 300));
    if (this.until.aborted || !(await isErasing(databaseUrl))) return;
    const maintenance = apps.find((member) => member.spec.role === 'maintenance' && member.isReady);
    if (maintenance?.kill('SIGKILL') === true) this.count('maintenance dies in an erasure');
  }

  /** Its workers end with it. */
  private killFleet(): void {
    if (this.victims.fleet.kill('SIGKILL')) this.count('fleet controller dies');
  }

  /** All workers of the deployment and their engines end at once; sometimes the controller does, too, while it starts others. */
  private async loseNode(): Promise<void> {
    if (this.victims.deploymentWorkers.disappear() === 0) return;
    this.count('node disappears');
    if (!this.random.chance(0.2)) return;
    await this.pause(this.random.whole(200, 2_500));
    this.killFleet();
  }

  private async emptyRedis(): Promise<void> {
    this.history.redisLosses += 1;
    const redis = new Redis(this.victims.redisUrl, { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      await redis.flushall();
      this.count('empty redis');
    } catch {
      // It was just being started again.
    } finally {
      redis.disconnect();
    }
    this.history.redisLosses += 1;
  }

  /** It keeps nothing on disk, so it comes back empty. */
  private restartRedis(): void {
    this.history.redisLosses += 1;
    if (this.victims.redis.kill('SIGKILL')) this.count('restart redis');
  }

  /** Immediate mode: nothing is written before the end, and the next start recovers from the log. */
  private restartPostgres(): void {
    if (this.victims.postgres.isReady && this.victims.postgres.kill('SIGQUIT')) this.count('restart postgres');
  }

  /** What a statement of somebody else locks: one account's place in a rotation, or what every statement needs. */
  private async holdLock(): Promise<void> {
    const kind = this.random.pick(['locked account', 'connection pool at its end'] as const);
    const holder = await LockHolder.open(this.victims.databaseUrl, kind);
    if (holder === null) return;
    this.count(kind);
    await this.pause(this.random.whole(200, 2_500));
    await holder.close();
  }

  /** A receiver of webhooks is gone for a while, or takes its time. */
  private async hitReceiver(): Promise<void> {
    const kind = this.random.pick(['lose receiver', 'slow receiver'] as const);
    this.count(kind);
    const slow = { kind: 'slow', ms: this.random.whole(500, 3_000) } as const;
    this.victims.receiver.behave(kind === 'lose receiver' ? { kind: 'down' } : slow);
    await this.pause(this.random.whole(500, 3_000));
    this.victims.receiver.behave({ kind: 'open' });
  }

  private async hitNetwork(): Promise<void> {
    const name = this.random.pick(['postgres', 'redis', 's3', 'link'] as const);
    const fault = this.random.pick(NETWORK);
    const proxy = this.victims.proxies[name];
    if (name === 'redis') this.history.redisLosses += 1;
    this.count(`${fault} ${name}`);
    if (fault === 'reset') proxy.reset();
    else if (fault === 'cut') proxy.cutReplies(this.random.whole(1, 3), this.random.pick([0, 0, 1, 7, 100]));
    else {
      if (fault === 'slow') proxy.behave({ kind: 'latency', ms: this.random.whole(20, 400) });
      else proxy.behave({ kind: HELD[fault] });
      await this.pause(this.random.whole(200, fault === 'mute' ? 2_500 : 1_200));
      proxy.behave({ kind: 'open' });
    }
    if (name === 'redis') this.history.redisLosses += 1;
  }

  /**
   * The store stops to answer in the middle of a fetch, for longer than anything else is held up. Sometimes those who fetch are killed
   * meanwhile, and a byte of what they have is another when they come back.
   */
  private async stallModels(): Promise<void> {
    const { modelWorkers, proxies } = this.victims;
    const end = Date.now() + FETCH_SOUGHT_MS;
    const havePiece = this.random.chance(0.5);
    const isTheMoment = (): boolean => (havePiece ? modelWorkers.havePiece() : modelWorkers.isFetching());
    while (!isTheMoment() && Date.now() < end) await this.pause(FETCH_POLL_MS);
    if (this.until.aborted || !modelWorkers.isFetching()) return;
    proxies.models.behave({ kind: 'silence' });
    this.count('model store stalls');
    await this.pause(this.random.whole(500, 6_000));
    if (this.random.chance(0.4) && modelWorkers.disappear() > 0) {
      this.count('model worker dies');
      if (modelWorkers.corrupt(this.random)) this.count('corrupted model');
    }
    proxies.models.behave({ kind: 'open' });
  }

  private async pause(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (!this.until.aborted && Date.now() < end) await pause(Math.min(50, Math.max(1, end - Date.now())));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
