import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { LANE, prefixOf } from './lanes';

/** Keys of Redis that one page looks at, about. */
const PAGE = 1_000;
/** What every lane has that was ever used. */
const META = `:${LANE}:meta`;
/**
 * What is left of a lane without messages. Its lists go with their last message; to delete them could lose one that is added at this moment, whose
 * own key then keeps it from being added again.
 */
const REST = ['meta', 'events', 'id', 'marker', 'stalled', 'stalled-check'];

/** The lanes that Redis holds, of whichever pools: a lane stays there when its pool goes. */
export class KeptLanes {
  constructor(private readonly redis: Redis) {}

  /**
   * Pools with a lane among the next keys of Redis; one may come twice.
   *
   * @param from where the page before ended; null for the first.
   * @returns next: null after the last. @throws when Redis is away.
   */
  async page(from: string | null): Promise<{ poolIds: string[]; next: string | null }> {
    const [next, keys] = await this.redis.scan(from ?? '0', 'MATCH', `${prefixOf('*')}${META}`, 'COUNT', PAGE);
    const [before, after] = prefixOf('*').split('*') as [string, string];
    const poolIds = keys.map((key) => key.slice(before.length, -(after + META).length));
    return { poolIds, next: next === '0' ? null : next };
  }

  /**
   * Drop the events of a lane, and have it keep none: it may be of a version that kept 10,000, and such a process beside this one sets that
   * again. @throws when Redis is away or full; of a full one, after the events have gone.
   */
  async shorten(poolId: string): Promise<void> {
    const keyOf = (name: string): string => `${prefixOf(poolId)}:${LANE}:${name}`;
    await this.redis.xtrim(keyOf('events'), 'MAXLEN', 0);
    await this.redis.hset(keyOf('meta'), 'opts.maxLenEvents', 0);
  }

  /**
   * Remove a lane with all that is in it. What a process adds meanwhile stays, or is missing as after a loss of Redis: attempts that PostgreSQL knows are
   * put back.
   *
   * @returns false while a worker holds a message of it: then the lane stays. @throws when Redis is away.
   */
  async remove(poolId: string): Promise<boolean> {
    const queue = new Queue(LANE, {
      connection: this.redis,
      prefix: prefixOf(poolId),
      skipWaitingForReady: true,
      skipMetasUpdate: true,
    });
    queue.on('error', () => undefined);
    try {
      await queue.drain(true);
      for (const id of await this.redis.lrange(queue.toKey('active'), 0, -1)) {
        if ((await queue.remove(id, { removeChildren: false })) === 0) return false;
      }
      await this.redis.unlink(REST.map((name) => queue.toKey(name)));
      return true;
    } finally {
      await queue.close();
    }
  }
}
