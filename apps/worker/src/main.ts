import 'reflect-metadata';
import { newId } from '@millrace/contracts';
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
import { asBootError } from './boot-error';
import { openEngines, planEngines } from './engines';
import { modelsOf, openModelCache } from './model-cache';
import { openOwnAccess } from './own-access';
import type { PoolAccess } from './pool-access';
import { isRemote, openRemoteAccess } from './remote';
import { WorkFolder, openWorkDir } from './work-files';
import { PoolWorker } from './worker';
import { remoteWorkerSettings, workerSettings, type OwnSettings } from './worker.config';

/** The worker process: takes attempts from its pool's lane and runs them. */
async function main(logger: Logger, shutdown: Shutdown): Promise<void> {
  const id = newId();
  const metrics = new Metrics('worker');
  if (isRemote(process.env)) {
    const settings = readSettings(remoteWorkerSettings, process.env);
    await trace(settings, shutdown);
    const access = await openRemoteAccess({ ...settings, workerId: id, logger });
    await run(id, settings, access, { logger, metrics, shutdown });
  } else {
    const settings = readSettings(workerSettings, process.env);
    await trace(settings, shutdown);
    await run(id, settings, await openOwnAccess(id, settings, { logger, metrics, shutdown }), {
      logger,
      metrics,
      shutdown,
    });
  }
}

async function trace(settings: OwnSettings, shutdown: Shutdown): Promise<void> {
  const tracing = await openTracing('worker', settings);
  shutdown.add('tracing', () => tracing.close());
}

async function run(
  id: string,
  settings: OwnSettings,
  { pool, terms, registry, claims, recordsOf, modelSource, openLane, assertInReach }: PoolAccess,
  { logger, metrics, shutdown }: { logger: Logger; metrics: Metrics; shutdown: Shutdown },
): Promise<void> {
  const workDir = await openWorkDir(settings.workDir, pool);
  const engineSettings = { ...settings, ...terms, workDir };
  const planned = planEngines(engineSettings);
  const models = await openModelCache(settings, modelSource, metrics, logger);
  if (models !== null) shutdown.add('model cache', () => models.close());
  const opened = await asBootError(openEngines(planned, engineSettings, models, logger));
  const engines = opened.map(({ engine }) => engine);
  // Nothing is taken from the lane before a signal can stop this process in order.
  const taking = { open: false, capacity: 0 };
  const worker = new PoolWorker({
    identity: { id, poolId: pool, version: VERSION },
    registry,
    claims,
    recordsOf,
    engines,
    attempt: { models: modelsOf(opened, models), logger, metrics, ...terms },
    disk: models,
    workFolder: new WorkFolder(workDir, logger),
    logger,
    drainMs: settings.drainSeconds * 1000,
    warmUpLimitMs: settings.warmUpSeconds * 1000,
    prefetchLimitMs: settings.prefetchSeconds * 1000,
    onCapacity: (capacity) => {
      taking.capacity = capacity;
      if (taking.open) lane.setCapacity(capacity);
    },
  });
  const readiness = [
    { name: 'database', check: assertInReach },
    { name: 'worker', check: () => assertTaking(worker), isOwn: true },
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
  await worker.start();
  const lane = openLane({
    take: (message) => worker.take(message),
    cancel: (jobId) => void worker.cancel(jobId),
  });
  shutdown.add('attempts', async () => {
    await Promise.all([lane.drain(), worker.drain()]);
    await lane.close();
  });
  shutdown.up((settings.stopSeconds + settings.drainSeconds) * 1000);
  logger.info({ opsPort: ops.port, pool, engine: settings.engine }, 'working');
  taking.open = true;
  lane.setCapacity(taking.capacity);
}

/** @throws while the worker takes no attempts: it starts, or drains. */
async function assertTaking(worker: PoolWorker): Promise<void> {
  if (!worker.isReady) throw new Error('the worker takes no attempts at present');
}

runMain('worker', main);
