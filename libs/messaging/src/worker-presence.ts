import type { Redis } from 'ioredis';

/** A worker renews its mark this often. */
const MARK_EVERY_MS = 30_000;
/** A mark outlives its worker by a minute and a half at least. */
const MARK_SECONDS = 120;
/** After Redis was away its subscribers come back within two seconds; so long nothing follows from one that is missing. */
const SETTLED_AFTER_MS = 5_000;

/** Carries no messages: that Redis holds a subscription to it says that the worker's connection is open. */
const channelOf = (workerId: string): string => `millrace:worker:${workerId}`;
/** Says that the worker has subscribed. */
const markOf = (workerId: string): string => `millrace:worker-mark:${workerId}`;

/**
 * Let others notice when this worker's process ends: the kernel then closes its connections, at once, however it ended. One
 * that freezes, or whose machine is cut off, keeps its connection, and so is not noticed here.
 *
 * @param subscriber a connection for subscriptions, which may have others.
 * @returns a function that ends it.
 */
export function announceWorker(subscriber: Redis, producer: Redis, workerId: string): () => void {
  const announce = (): void => {
    if (subscriber.status !== 'ready' || producer.status !== 'ready') return;
    void mark(subscriber, producer, workerId).catch(() => undefined);
  };
  for (const redis of [subscriber, producer]) redis.on('ready', announce);
  announce();
  const timer = setInterval(announce, MARK_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    for (const redis of [subscriber, producer]) redis.off('ready', announce);
  };
}

/**
 * Subscribe, and set the mark once the server that keeps it has the subscription: a worker that has a mark is subscribed there, or was. After a
 * failover the subscription may still be with the old primary, which nothing written makes known: then it is made again, and until it is there nothing
 * follows from its absence.
 */
async function mark(subscriber: Redis, producer: Redis, workerId: string): Promise<void> {
  await subscriber.subscribe(channelOf(workerId));
  const [, subscribers] = await producer.pubsub('NUMSUB', channelOf(workerId));
  if (Number(subscribers) > 0) {
    await producer.set(markOf(workerId), '', 'EX', MARK_SECONDS);
    return;
  }
  await producer.del(markOf(workerId));
  subscriber.disconnect(true);
}

/** Which workers' processes have ended, as far as Redis has noticed. */
export class GoneWorkers {
  private readySinceMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly redis: Redis,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    if (redis.status === 'ready') this.readySinceMs = nowMs();
    redis.on('ready', () => (this.readySinceMs = nowMs()));
  }

  /**
   * Those of the workers that had announced themselves, and whose connection is closed. None while Redis is away, and for five
   * seconds after it came back: its subscribers are coming back, too. A worker that announces nothing is never among them.
   * Never rejects.
   */
  async among(workerIds: readonly string[]): Promise<string[]> {
    if (workerIds.length === 0 || !this.isSettled) return [];
    try {
      const marks = this.redis.mget(workerIds.map(markOf));
      // As many numbers as there are channels, each after its channel.
      const counts = this.redis.pubsub('NUMSUB', ...workerIds.map(channelOf));
      const [marked, subscribers] = await Promise.all([marks, counts]);
      return workerIds.filter((_, nth) => marked[nth] !== null && Number(subscribers[2 * nth + 1]) === 0);
    } catch {
      return [];
    }
  }

  private get isSettled(): boolean {
    return this.redis.status === 'ready' && this.nowMs() - this.readySinceMs >= SETTLED_AFTER_MS;
  }
}
