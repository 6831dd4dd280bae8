import type { Redis } from 'ioredis';

/** Counters that all processes share. Redis may lose them at any time: callers must be able to count alone. */
export class SharedCounters {
  constructor(private readonly redis: Redis) {}

  /**
   * Add to counters and read their sums, in one round trip.
   *
   * @param lifetimeMs a counter expires when nothing was added to it for this long.
   * @returns the sum of each counter, this addition included.
   * @throws when Redis is away; some of the additions may have been made.
   */
  async add(amounts: ReadonlyMap<string, number>, lifetimeMs: number): Promise<Map<string, number>> {
    const names = [...amounts.keys()];
    const pipeline = this.redis.pipeline();
    for (const [name, amount] of amounts) pipeline.incrby(name, amount).pexpire(name, lifetimeMs);
    const replies = (await pipeline.exec()) ?? [];
    return new Map(
      names.map((name, index) => {
        const [error, sum] = replies[index * 2] ?? [new Error('no reply'), null];
        if (error) throw error;
        return [name, Number(sum)];
      }),
    );
  }
}
