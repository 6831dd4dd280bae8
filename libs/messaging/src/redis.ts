import { Redis, type RedisOptions } from 'ioredis';
import { BootError, type Logger } from '@millrace/platform';

const RECONNECT_CAP_MS = 2_000;
/** A connection without an answer for this long is dead, though it was never closed. */
const PRODUCER_SILENCE_MS = 5_000;
const CONSUMER_SILENCE_MS = 15_000;
/**
 * After this a connection is made again where the server has become a replica: where the address still leads there, a connection
 * made at once would be left at once, too.
 */
export const REPLICA_PAUSE_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;
/** A server that takes longer to answer is not waited for. */
const ANSWER_LIMITS = { commandTimeout: 2_000, socketTimeout: PRODUCER_SILENCE_MS };

/**
 * The process's connections to Redis. Redis is disposable: senders fail fast and go on without it, subscribers wait until it
 * is back.
 */
export class RedisConnections {
  private readonly open: Redis[] = [];
  private shared: Redis | null = null;

  constructor(
    private readonly url: string,
    private readonly logger: Logger,
  ) {}

  /** For commands of a request, one for all of them: without a server they fail at once, and never queue in memory. */
  producer(): Redis {
    this.shared ??= this.connect({ enableOfflineQueue: false, maxRetriesPerRequest: 1, ...ANSWER_LIMITS });
    return this.shared;
  }

  /**
   * For subscriptions. Who makes one makes it again whenever the connection is `ready`: the client would renew only what a server has
   * confirmed, and forgets what waits for one that turns it away, as while its passwords are changed. So a command that cannot be sent, or has
   * no answer when the connection ends, fails: to send it later could only undo what was made since, and kept for that, commands would fill
   * the memory while the server is away.
   */
  subscriber(): Redis {
    return this.connect({
      autoResubscribe: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      ...ANSWER_LIMITS,
    });
  }

  /** For BullMQ's workers, which block on it. */
  consumer(): Redis {
    return this.connect({ maxRetriesPerRequest: null, socketTimeout: CONSUMER_SILENCE_MS });
  }

  private connect(options: RedisOptions): Redis {
    let away = false;
    let isReplica = false;
    const redis = new Redis(this.url, {
      ...options,
      connectTimeout: 3_000,
      keepAlive: KEEP_ALIVE_MS,
      retryStrategy: (times) => {
        const pause = isReplica ? REPLICA_PAUSE_MS : Math.min(RECONNECT_CAP_MS, 50 * times);
        isReplica = false;
        return pause;
      },
      // A failover may leave connections to the old primary open. The command fails as it does while Redis is away: not sent again, as one of a
      // transaction must not be by itself.
      reconnectOnError: ({ message }) => {
        // Not only at its beginning: Redis before 7 reports a script by an error around it.
        if (!message.includes('READONLY')) return false;
        if (!isReplica) this.logger.warn('Redis takes no writes: it has become a replica, and is connected to again');
        isReplica = true;
        return true;
      },
    });
    redis.on('error', (error: Error) => {
      if (!away) this.logger.warn({ err: error.message }, 'Redis is away');
      away = true;
    });
    redis.on('ready', () => {
      if (away) this.logger.info('Redis is back');
      away = false;
    });
    this.open.push(redis);
    return redis;
  }

  /**
   * Check once at boot that the server evicts nothing and is one server: neither a cluster, over whose slots the keys of a command
   * would be spread, nor a Sentinel, which holds no keys.
   *
   * @throws BootError when it is reachable and cannot be used. A server that is unreachable or silent is no error: work waits in Postgres.
   */
  async assertUsable(): Promise<void> {
    const probe = this.connect({ maxRetriesPerRequest: 1, lazyConnect: true, ...ANSWER_LIMITS });
    try {
      await probe.connect();
      const info = await probe.info();
      const mode = /^redis_mode:(cluster|sentinel)/m.exec(info)?.[1];
      if (mode !== undefined) {
        throw new BootError(
          `Redis runs in ${mode} mode, which is not supported: set REDIS_URL to one server, or to an address that leads to its primary.`,
        );
      }
      const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
      if (policy !== undefined && policy !== 'noeviction') {
        throw new BootError(
          `Redis runs with maxmemory-policy ${policy}; set it to noeviction, or it evicts the locks of jobs.`,
        );
      }
    } catch (error) {
      if (error instanceof BootError) throw error;
      this.logger.warn({ err: (error as Error).message }, 'Redis could not be asked how it runs');
    } finally {
      await closed(probe);
    }
  }

  /** Close every connection. Commands under way fail. Resolves when all are closed, within seconds. */
  async close(): Promise<void> {
    await Promise.all(this.open.map(closed));
  }
}

/** Disconnect. To disconnect what is closed would keep the process from its end for two seconds. */
async function closed(redis: Redis): Promise<void> {
  if (redis.status === 'end') return;
  // Between two attempts to connect there is nothing that could end.
  const ended = redis.status === 'reconnecting' ? undefined : new Promise((resolve) => redis.once('end', resolve));
  redis.disconnect();
  await ended;
}
