import { Redis } from 'ioredis';
import type { FaultProxy } from './fault-proxy';
import type { History } from './history';
import type { Member } from './member';
import type { Random } from './random';

/** What faults are done to. */
export interface Victims {
  apps: Member[];
  postgres: Member;
  redis: Member;
  /** Of the server itself, past its proxy. */
  redisUrl: string;
  proxies: Record<'postgres' | 'redis' | 's3', FaultProxy>;
  leaseMs: number;
}

export const FAULT_KINDS = [
  'kill api',
  'kill maintenance',
  'kill worker',
  'freeze worker',
  'empty redis',
  'restart redis',
  'restart postgres',
  'slow postgres',
  'slow redis',
  'slow s3',
  'lose postgres',
  'lose redis',
  'lose s3',
  'reset postgres',
  'reset redis',
  'reset s3',
  'cut postgres',
  'cut redis',
  'cut s3',
  'mute postgres',
  'mute redis',
  'mute s3',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Pauses between two faults of one family, in milliseconds. */
const PACE = {
  kill: [500, 2_000],
  freeze: [1_500, 3_500],
  redis: [1_000, 2_000],
  postgres: [2_500, 5_000],
  network: [250, 700],
} as const;

const NETWORK = ['slow', 'lose', 'reset', 'cut', 'mute'] as const;

/** Does faults to a stack until it is told to stop, and counts them. */
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
      this.every('redis', () => this.hitRedis()),
      this.every('postgres', () => this.restartPostgres()),
      this.every('network', () => this.hitNetwork()),
    ]);
    await Promise.all(this.thawing);
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
    const member = this.random.pick(this.victims.apps);
    if (!member.kill('SIGKILL')) return;
    const { role } = member.spec;
    this.count(role === 'api' ? 'kill api' : role === 'worker' ? 'kill worker' : 'kill maintenance');
  }

  /** Stop a worker past its lease, beside everything else that happens meanwhile; it then goes on as if nothing had. */
  private freezeOne(): void {
    const workers = this.victims.apps.filter((member) => member.spec.role === 'worker' && member.isReady);
    const worker = workers.find((member) => !member.frozen);
    if (worker === undefined || !worker.freeze()) return;
    this.count('freeze worker');
    const frozen = pause(this.victims.leaseMs + this.random.whole(500, 2_500)).then(() => worker.thaw());
    this.thawing.add(frozen);
    void frozen.finally(() => this.thawing.delete(frozen));
  }

  private async hitRedis(): Promise<void> {
    this.history.redisLosses += 1;
    if (this.random.chance(0.5)) {
      // Its own stop leaves nothing behind, so that it comes back empty.
      if (this.victims.redis.kill('SIGKILL')) this.count('restart redis');
      return;
    }
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

  /** Immediate mode: nothing is written before the end, and the next start recovers from the log. */
  private restartPostgres(): void {
    if (this.victims.postgres.isReady && this.victims.postgres.kill('SIGQUIT')) this.count('restart postgres');
  }

  private async hitNetwork(): Promise<void> {
    const name = this.random.pick(['postgres', 'redis', 's3'] as const);
    const fault = this.random.pick(NETWORK);
    const proxy = this.victims.proxies[name];
    if (name === 'redis') this.history.redisLosses += 1;
    this.count(`${fault} ${name}`);
    if (fault === 'reset') proxy.reset();
    else if (fault === 'cut') proxy.cutReplies(this.random.whole(1, 3), this.random.pick([0, 0, 1, 7, 100]));
    else {
      if (fault === 'slow') proxy.behave({ kind: 'latency', ms: this.random.whole(20, 400) });
      else proxy.behave({ kind: fault === 'lose' ? 'down' : 'silence' });
      await this.pause(this.random.whole(200, fault === 'mute' ? 2_500 : 1_200));
      proxy.behave({ kind: 'open' });
    }
    if (name === 'redis') this.history.redisLosses += 1;
  }

  private async pause(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (!this.until.aborted && Date.now() < end) await pause(Math.min(50, Math.max(1, end - Date.now())));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
