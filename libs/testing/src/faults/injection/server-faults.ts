import { Redis } from 'ioredis';
import { LockHolder } from './lock-holder';
import type { Harm } from './victims';

/** Faults of PostgreSQL and Redis themselves. */
export class ServerFaults {
  constructor(private readonly harm: Harm) {}

  async emptyRedis(): Promise<void> {
    const { history, victims } = this.harm;
    history.redisLosses += 1;
    const redis = new Redis(victims.redisUrl, { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      await redis.flushall();
      this.harm.count('empty redis');
    } catch {
      // It was just being started again.
    } finally {
      redis.disconnect();
    }
    history.redisLosses += 1;
  }

  /** It keeps nothing on disk, so it comes back empty. */
  restartRedis(): void {
    this.harm.history.redisLosses += 1;
    if (this.harm.victims.redis.kill('SIGKILL')) this.harm.count('restart redis');
  }

  /** Immediate mode: nothing is written before the end, and the next start recovers from the log. */
  restartPostgres(): void {
    const { postgres } = this.harm.victims;
    if (postgres.isReady && postgres.kill('SIGQUIT')) this.harm.count('restart postgres');
  }

  /** What a statement of somebody else locks: one account's place in a rotation, or what every statement needs. */
  async holdLock(): Promise<void> {
    const { random, victims } = this.harm;
    const kind = random.pick(['locked account', 'connection pool at its end'] as const);
    const holder = await LockHolder.open(victims.databaseUrl, kind);
    if (holder === null) return;
    this.harm.count(kind);
    await this.harm.pause(random.whole(200, 2_500));
    await holder.close();
  }
}
