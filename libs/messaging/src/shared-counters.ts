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
   * @param read counters to which this process writes nothing now.
   * @returns for each counter, of either kind, the sum of the counts of all other processes.
   * @throws when Redis is away or answers too late; some of the counts may have been written.
   */
  async exchange(
    counts: ReadonlyMap<string, number>,
    lifetimeMs: number,
    read: readonly string[] = [],
  ): Promise<Map<string, number>> {
    const pipeline = this.redis.pipeline();
    for (const [name, count] of counts) {
      const key = keyOf(name);
      pipeline.hset(key, this.process, count).pexpire(key, lifetimeMs).hgetall(key);
    }
    for (const name of read) pipeline.hgetall(keyOf(name));
    const replies = (await pipeline.exec()) ?? [];
    const sumAt = (at: number): number => this.sumOfOthers(replies[at]);
    const written = Array.from(counts.keys(), (name, index) => [name, sumAt(index * 3 + 2)] as const);
    return new Map([...written, ...read.map((name, index) => [name, sumAt(counts.size * 3 + index)] as const)]);
  }

  private sumOfOthers([error, counts]: [error: Error | null, counts: unknown] = [new Error('no reply'), null]): number {
    if (error) throw error;
    const { [this.process]: _, ...others } = counts as Record<string, string>;
    return Object.values(others).reduce((sum, count) => sum + Number(count), 0);
  }
}
