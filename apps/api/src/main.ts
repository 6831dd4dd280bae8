import 'reflect-metadata';
import type { Server } from 'node:http';
import { Module } from '@nestjs/common';
import { Shutdown, listen, openOpsListener, openTracing, readSettings, runMain, type Logger } from '@millrace/platform';
import { apiSettings } from './api.config';
import { composeApi } from './composition';
import { createPublicApp, speakEnvelope } from './http/public-app';
import { drainPublic } from './http/drain';

@Module({})
class AdminModule {}

/** The api process: the public listener, and the ops listener with the admin API. */
async function main(logger: Logger): Promise<void> {
  const settings = readSettings(apiSettings, process.env);
  const shutdown = new Shutdown(logger, settings.stopSeconds * 1000);
  const tracing = openTracing('api', settings, true);
  shutdown.add('tracing', () => tracing.close());
  const api = await composeApi(settings, logger, shutdown);
  const { surface: shared, publicUrl, deploymentDomain } = settings;
  const rules = { shared, publicUrl, deploymentDomain };
  const { app } = await createPublicApp({ ...api.public, logger, metrics: api.metrics, rules });
  const ops = await openOpsListener({
    port: settings.opsPort,
    logger,
    metrics: api.metrics,
    shutdown,
    readiness: [{ name: 'database', check: () => api.database.ping() }],
    modules: [{ module: AdminModule, ...api.ops }],
    configure: (opsApp) => speakEnvelope(opsApp, rules, logger),
  });
  shutdown.add('ops listener', () => ops.close());
  const port = await listen(app, settings.port, 'MILLRACE_PORT');
  shutdown.add('public listener', () =>
    drainPublic(app.getHttpServer() as Server, api.streams, settings.drainSeconds * 1000),
  );
  shutdown.listen();
  logger.info({ port, opsPort: ops.port, surface: shared }, 'serving');
}

runMain('api', main);
