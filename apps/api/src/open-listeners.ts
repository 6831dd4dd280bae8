import type { Server } from 'node:http';
import { ContentService } from '@millrace/assets';
import { SUBMISSION_REST } from '@millrace/jobs';
import { BodiesInFlight, Connections, listen, openOpsListener, type Logger, type Shutdown } from '@millrace/platform';
import { AdminModule } from './admin.module';
import type { ApiSettings } from './api.config';
import { composeLibs } from './composition';
import { CONSOLE_PATH, ConsoleFiles, ConsolePages, OPS_CONSOLE_PATH } from './console';
import { RequestLimits } from './endpoints';
import { configureOpsApp, createPublicApp, type RouteTable } from './http';
import { providerOf } from './operators.config';
import { PublicModule } from './public.module';
import { OpenStreams, StreamChores, drainPublic } from './streams';

/** The open listeners of an api process. */
export interface ApiListeners {
  port: number;
  opsPort: number;
  routes: { public: RouteTable; ops: RouteTable };
}

/**
 * Open the public listener, and the ops listener with the admin API. `shutdown` closes both.
 *
 * @param consoles where the console of accounts and the operators' console were built; one that was not is not served.
 * @throws BootError, SettingsError when the process cannot run as configured.
 */
export async function openListeners(
  settings: ApiSettings,
  logger: Logger,
  shutdown: Shutdown,
  consoles: { public: string; ops: string },
): Promise<ApiListeners> {
  assertOperators(settings, logger);
  const libs = await composeLibs(settings, logger, shutdown);
  const { surface: shared, publicUrl, deploymentDomain, trustedProxies } = settings;
  const open = shared === 'self_hosted' && settings.token === undefined;
  const rules = { shared, open, publicUrl, deploymentDomain };
  const { metrics } = libs;
  const { bodyBytesInFlight: bytes, bodyBytesInFlightPerAccount: bytesPerPayer } = settings;
  const newBodies = (): BodiesInFlight => new BodiesInFlight({ bytes, bytesPerPayer }, SUBMISSION_REST);
  const publicApp = await createPublicApp({
    modules: [libs.module, PublicModule],
    logger,
    metrics,
    rules,
    trustedProxies,
    bodies: newBodies(),
    connections: new Connections({
      connections: settings.maxConnections,
      connectionsPerAddress: trustedProxies === 0 ? settings.maxConnectionsPerAddress : null,
      stalledMs: settings.stalledClientSeconds * 1000,
    }),
  });
  const { app } = publicApp;
  const limits = app.get(RequestLimits);
  const pages = new ConsolePages(new ConsoleFiles(consoles.public), limits, app.get(ContentService));
  app.use(CONSOLE_PATH, pages.handle);
  const noBytes = { linkOrigin: () => Promise.resolve(null) };
  const opsPages = new ConsolePages(new ConsoleFiles(consoles.ops), limits, noBytes, OPS_CONSOLE_PATH);
  let opsRoutes: RouteTable | undefined;
  const ops = await openOpsListener({
    port: settings.opsPort,
    host: settings.opsHost,
    logger,
    metrics,
    shutdown,
    readiness: [{ name: 'database', check: () => libs.database.ping() }],
    modules: [libs.module, AdminModule],
    configure: (app) => {
      // Its own pages come from the host that operators use, not from the public one, and no deployment has a host here.
      const opsRules = { ...rules, open: false, publicUrl: undefined, deploymentDomain: undefined };
      const { opsTrustedProxies } = settings;
      // Bodies of its own: no tenant keeps operators out.
      const more = { trustedProxies: opsTrustedProxies, bodies: newBodies() };
      opsRoutes = configureOpsApp(app, { logger, rules: opsRules, ...more });
      app.use(OPS_CONSOLE_PATH, opsPages.handle);
    },
  });
  shutdown.add('ops listener', () => ops.close());
  const chores = publicApp.app.get(StreamChores, { strict: false });
  chores.start((error) => logger.warn({ err: error }, 'the access of open streams was not checked'));
  shutdown.add('stream chores', () => chores.stop());
  const port = await listen(publicApp.app, { host: settings.host, port: settings.port }, 'MILLRACE_PORT');
  shutdown.add('public listener', () =>
    drainPublic(
      publicApp.app.getHttpServer() as Server,
      publicApp.app.get(OpenStreams, { strict: false }),
      settings.drainSeconds * 1000,
    ),
  );
  if (opsRoutes === undefined) throw new Error('the ops listener was not configured');
  return { port, opsPort: ops.port, routes: { public: publicApp.routes, ops: opsRoutes } };
}

/** @throws SettingsError when half a provider is named, or one beside the shared admin token. */
function assertOperators(settings: ApiSettings, logger: Logger): void {
  providerOf(settings);
  if (settings.adminToken === undefined) return;
  logger.warn('MILLRACE_ADMIN_TOKEN opens the admin API to all who have it; operator tokens and a provider name each');
}
