import 'reflect-metadata';
import { composeAssets, openBlobStore } from '@millrace/assets';
import { newId } from '@millrace/contracts';
import { Database, awaitSchema } from '@millrace/database';
import { CatalogueStore, PoolStore, WorkerStore } from '@millrace/deployments';
import { composeExecution } from '@millrace/jobs';
import { LaneConsumer, RedisConnections, listenForControl } from '@millrace/messaging';
import { composeModelSource } from '@millrace/models';
import {
  Metrics,
  VERSION,
  openOpsListener,
  openTracing,
  readSettings,
  runMain,
  type Logger,
  type Shutdown,
} from '@millrace/platform';
import { openEngines, planEngines } from './engines';
import { inOperatorsWords, modelsOf, openModelCache } from './model-cache';
import { WorkFolder, openWorkDir } from './work-files';
import { PoolWorker } from './worker';
import { workerSettings } from './worker.config';

/** The worker process: takes attempts from its pool's lane and runs them. */
async function main(logger: Logger, shutdown: Shutdown): Promise<void> {
  const settings = readSettings(workerSettings, process.env);
  const workDir = await openWorkDir(settings.workDir, settings.pool);
  const planned = planEngines({ ...settings, workDir });
  const tracing = await openTracing('worker', settings);
  shutdown.add('tracing', () => tracing.close());
  const metrics = new Metrics('worker');
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
  const models = await openModelCache(settings, composeModelSource({ database, assets }), metrics, logger);
  if (models !== null) shutdown.add('model cache', () => models.close());
  const opened = await inOperatorsWords(openEngines(planned, { ...settings, workDir }, models, logger));
  const engines = opened.map(({ engine }) => engine);
  const { secretKey } = settings;
  const jobs = composeExecution({ database, redis, logger, metrics, settings, secretKey });
  shutdown.add('jobs', () => jobs.close());

  // Nothing is taken from the lane before a signal can stop this process in order.
  const taking = { open: false, capacity: 0 };
  const worker = new PoolWorker({
    identity: { id: newId(), poolId: settings.pool, version: VERSION },
    database,
    pools: new PoolStore(),
    workers: new WorkerStore(),
    catalogues: new CatalogueStore(),
    claims: jobs.claims,
    engines,
    attempt: { jobs, assets, models: modelsOf(opened, models), logger, metrics, ...settings },
    diskModels: async () => (await models?.names()) ?? [],
    workFolder: new WorkFolder(workDir, logger),
    logger,
    drainMs: settings.drainSeconds * 1000,
    onCapacity: (capacity) => {
      taking.capacity = capacity;
      if (taking.open) lane.setCapacity(capacity);
    },
  });
  const readiness = [
    { name: 'database', check: () => database.ping() },
    { name: 'worker', check: () => assertTaking(worker) },
  ];
  const ops = await openOpsListener({
    host: settings.opsHost,
    port: settings.opsPort,
    logger,
    metrics,
    shutdown,
    readiness,
  });
  shutdown.add('ops listener', () => ops.close());
  shutdown.add('worker', () => worker.stop());
  const lane = new LaneConsumer(
    redis.consumer(),
    settings.pool,
    (message) => worker.take(message),
    (left) => jobs.dispatcher.leave(settings.pool, left),
    (error) => logger.debug({ err: error }, 'the lane has a problem'),
  );
  listenForControl(redis.subscriber(), settings.pool, (message) => {
    if (message.kind === 'cancel') void worker.cancel(message.jobId);
  });
  await worker.start();
  shutdown.add('attempts', async () => {
    await Promise.all([lane.drain(), worker.drain()]);
    await lane.close();
  });
  shutdown.up((settings.stopSeconds + settings.drainSeconds) * 1000);
  logger.info({ opsPort: ops.port, pool: settings.pool, engine: settings.engine }, 'working');
  taking.open = true;
  lane.setCapacity(taking.capacity);
}

/** @throws while the worker takes no attempts: it starts, or drains. */
async function assertTaking(worker: PoolWorker): Promise<void> {
  if (!worker.isReady) throw new Error('the worker takes no attempts at present');
}

runMain('worker', main);
