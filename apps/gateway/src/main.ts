import 'reflect-metadata';
import { Database, awaitSchema } from '@millrace/database';
import { RedisConnections } from '@millrace/messaging';
import {
  Metrics,
  openOpsListener,
  openTracing,
  readSettings,
  runMain,
  type Logger,
  type Shutdown,
} from '@millrace/platform';
import { composeGateway } from './composition';
import { gatewaySettings } from './gateway.config';
import { openGateway } from './http';

/** The gateway process: speaks to the workers outside the cluster, for PostgreSQL, Redis and the store. */
async function main(logger: Logger, shutdown: Shutdown): Promise<void> {
  const settings = readSettings(gatewaySettings, process.env);
  const tracing = await openTracing('gateway', settings);
  shutdown.add('tracing', () => tracing.close());
  const metrics = new Metrics('gateway');
  const database = new Database(settings, 'millrace-gateway');
  metrics.watchConnections(() => database.connections);
  shutdown.add('database', () => database.close());
  await awaitSchema(database, logger);
  const redis = new RedisConnections(settings.redisUrl, logger);
  shutdown.add('Redis', () => redis.close());
  await redis.assertUsable();
  const { module, stopWaiting } = await composeGateway({ settings, database, redis, logger, metrics, shutdown });
  const ops = await openOpsListener({
    host: settings.opsHost,
    port: settings.opsPort,
    logger,
    metrics,
    shutdown,
    readiness: [{ name: 'database', check: () => database.ping() }],
  });
  shutdown.add('ops listener', () => ops.close());
  const gateway = await openGateway(module, settings, logger, metrics);
  shutdown.add('gateway listener', () => gateway.close());
  // First of all: who waits for a message would keep the listener open.
  shutdown.add('waiting workers', stopWaiting);
  shutdown.up(settings.stopSeconds * 1_000);
  logger.info({ port: gateway.port, opsPort: ops.port }, 'listening for workers');
}

runMain('gateway', main);
