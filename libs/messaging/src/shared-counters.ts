import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

const keyOf = (name: string): string => `millrace:counts:${name}`;

/**
 * Counts that processes share, each its own of every counter. A process writes what it has counted in all, never what is new: an exchange
 * whose answer did not come may be repeated. Redis may lose all of it at any time: callers must be able to count alone.
 */
export class SharedCounters {
  private readonly process = randomUUID();

  constructor(private readonly redis: Redis) {}

  /**
   * Write what this process has counted, and read what all others have, in one round trip.
   *
   * @param counts of each counter by its name, whole numbers.
   * @param lifetimeMs a counter expires when no process wrote to it for this long.
   * @returns for each counter the sum of the counts of all other processes.
   * @throws when Redis is away or answers too late; some of the counts may have been written.
   */
  async exchange(counts: ReadonlyMap<string, number>, lifetimeMs: number): Promise<Map<string, number>> {
    const pipeline = this.redis.pipeline();
    for (const [name, count] of counts) {
      const key = keyOf(name);
      pipeline.hset(key, this.process, count).pexpire(key, lifetimeMs).hgetall(key);
    }
    const replies = (await pipeline.exec()) ?? [];
    return new Map(Array.from(counts.keys(), (name, index) => [name, this.sumOfOthers(replies[index * 3 + 2])]));
  }

  private sumOfOthers([error, counts]: [error: Error | null, counts: unknown] = [new Error('no reply'), null]): number {
    if (error) throw error;
    const { [this.process]: _, ...others } = counts as Record<string, string>;
    return Object.values(others).reduce((sum, count) => sum + Number(count), 0);
  }
}
