import type { Server } from 'node:http';
import { Module } from '@nestjs/common';
import { listen, openOpsListener, type Logger, type Shutdown } from '@millrace/platform';
import type { ApiSettings } from './api.config';
import { composeApi } from './composition';
import { drainPublic } from './http/drain';
import { configureOpsApp, createPublicApp } from './http/public-app';
import type { RouteTable } from './http/route-table';

@Module({})
class AdminModule {}

/** The open listeners of an api process. */
export interface ApiListeners {
  port: number;
  opsPort: number;
  routes: { public: RouteTable; ops: RouteTable };
}

/**
 * Open the public listener, and the ops listener with the admin API. `shutdown` closes both.
 *
 * @throws BootError, SettingsError when the process cannot run as configured.
 */
export async function openListeners(settings: ApiSettings, logger: Logger, shutdown: Shutdown): Promise<ApiListeners> {
  const api = await composeApi(settings, logger, shutdown);
  const { surface: shared, publicUrl, deploymentDomain, trustedProxies } = settings;
  const rules = { shared, publicUrl, deploymentDomain };
  const { metrics } = api;
  const publicApp = await createPublicApp({ ...api.public, logger, metrics, rules, trustedProxies });
  let opsRoutes: RouteTable | undefined;
  const ops = await openOpsListener({
    port: settings.opsPort,
    logger,
    metrics,
    shutdown,
    readiness: [{ name: 'database', check: () => api.database.ping() }],
    modules: [{ module: AdminModule, ...api.ops }],
    configure: (app) => (opsRoutes = configureOpsApp(app, { logger, rules, trustedProxies })),
  });
  shutdown.add('ops listener', () => ops.close());
  const port = await listen(publicApp.app, settings.port, 'MILLRACE_PORT');
  shutdown.add('public listener', () =>
    drainPublic(publicApp.app.getHttpServer() as Server, api.streams, settings.drainSeconds * 1000),
  );
  if (opsRoutes === undefined) throw new Error('the ops listener was not configured');
  return { port, opsPort: ops.port, routes: { public: publicApp.routes, ops: opsRoutes } };
}
