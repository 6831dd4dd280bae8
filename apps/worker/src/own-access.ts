import { composeAssets, openBlobStore } from '@millrace/assets';
import { Database, awaitSchema } from '@millrace/database';
import { composeExecution } from '@millrace/jobs';
import { LaneConsumer, RedisConnections, announceWorker, listenForControl } from '@millrace/messaging';
import { composeModelSource } from '@millrace/models';
import type { Logger, Metrics, Shutdown } from '@millrace/platform';
import type { PoolAccess } from './pool-access';
import { DatabaseRegistry } from './pool-registry';
import type { WorkerSettings } from './worker.config';

/** The access of a worker that reaches PostgreSQL, Redis and the blob store. `shutdown` closes what it opens. */
export async function openOwnAccess(
  workerId: string,
  settings: WorkerSettings,
  { logger, metrics, shutdown }: { logger: Logger; metrics: Metrics; shutdown: Shutdown },
): Promise<PoolAccess> {
  const { pool, secretKey } = settings;
  const database = new Database(settings, 'millrace-worker');
  metrics.watchConnections(() => database.connections);
  shutdown.add('database', () => database.close());
  await awaitSchema(database, logger);
  const redis = new RedisConnections(settings.redisUrl, logger);
  shutdown.add('Redis', () => redis.close());
  await redis.assertUsable();
  const store = await openBlobStore(settings);
  shutdown.add('blob store', () => store.close());
  const assets = composeAssets({ database, store, settings });
  const jobs = composeExecution({ database, redis, logger, metrics, settings, secretKey });
  shutdown.add('jobs', () => jobs.close());
  return {
    pool,
    terms: settings,
    registry: new DatabaseRegistry(database),
    claims: jobs.claims,
    recordsOf: () => ({ jobs, assets }),
    modelSource: composeModelSource({ database, assets }),
    openLane: ({ take, cancel }) => {
      const subscriber = redis.subscriber();
      listenForControl(subscriber, pool, (message) => {
        if (message.kind === 'cancel') cancel(message.jobId);
      });
      shutdown.add('presence', announceWorker(subscriber, redis.producer(), workerId));
      const onLeft = (left: Parameters<typeof take>[0]): Promise<void> => jobs.dispatcher.leave(pool, left);
      const onError = (error: Error): void => logger.debug({ err: error }, 'the lane has a problem');
      return new LaneConsumer(redis.consumer(), pool, take, onLeft, onError);
    },
    assertInReach: () => database.ping(),
  };
}
