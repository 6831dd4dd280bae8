import { readFileSync } from 'node:fs';
import { newId } from '@millrace/contracts';
import { Database, awaitSchema } from '@millrace/database';
import { EngineClassStore, readEngineClasses } from '@millrace/deployments';
import { FleetGroupStore, FleetLeaseStore, StepRunner, Reconciler, ServedPoolStore } from '@millrace/fleet';
import { PoolDemandStore } from '@millrace/jobs';
import {
  BootError,
  Metrics,
  openOpsListener,
  openTracing,
  readSettings,
  runMain,
  type Logger,
  type SettingsOf,
  type Shutdown,
} from '@millrace/platform';
import { fleetSettings } from './fleet.config';
import { openFleet } from './open-fleet';
import { PoolFigures } from './pool-figures';
import { reportWorkers } from './report-workers';

type Settings = SettingsOf<typeof fleetSettings>;

/** What a worker may take beyond its own limits before it is killed. */
const STOP_MARGIN_MS = 1_000;

/** The fleet process: brings the workers of deployments, and lets them go. Of several, one leads. */
async function main(logger: Logger, shutdown: Shutdown): Promise<void> {
  const settings = readSettings(fleetSettings, process.env);
  const tracing = await openTracing('fleet', settings);
  shutdown.add('tracing', () => tracing.close());
  const metrics = new Metrics('fleet');
  const database = new Database(settings, 'millrace-fleet');
  shutdown.add('database', () => database.close());
  metrics.watchConnections(() => database.connections);
  await awaitSchema(database, logger);
  const classes = new EngineClassStore();
  await offerClasses(settings, (specs) => classes.reconcile(database, specs));
  const workerStopMs = (settings.drainSeconds + settings.stopSeconds) * 1_000 + STOP_MARGIN_MS;
  const fleet = openFleet(settings, workerStopMs);
  const demand = new PoolDemandStore();
  const figures = new PoolFigures(metrics);
  const reconciler = new Reconciler(newId(), {
    database,
    fleet,
    leases: new FleetLeaseStore(),
    groups: new FleetGroupStore(),
    served: new ServedPoolStore(),
    classes,
    demand: () => demand.read(database),
    working: () => demand.listWorking(database),
    failed: (pool, error) => logger.warn({ err: error, pool }, 'an order to the fleet failed, and is repeated'),
    recorded: (pool, group) => figures.record(pool, group),
    listed: (pools) => figures.keepOnly(pools),
    started: (engineClass, phases) => {
      for (const [phase, ms] of Object.entries(phases)) {
        if (ms !== null) metrics.workerStartSeconds.observe({ class: engineClass, phase }, ms / 1_000);
      }
    },
  });
  const loop = new StepRunner(reconciler, logger, (leads) => {
    metrics.fleetLeads.set(leads ? 1 : 0);
    figures.show(leads);
    void reportWorkers(fleet);
  });
  const ops = await openOpsListener({
    host: settings.opsHost,
    port: settings.opsPort,
    logger,
    metrics,
    shutdown,
    readiness: [{ name: 'database', check: () => database.ping() }],
  });
  shutdown.add('ops listener', () => ops.close());
  shutdown.add('workers', () => reconciler.close());
  // Without a fleet nothing is looked after: an operator runs the workers, and what another fleet recorded stays.
  if (settings.fleet === 'none') metrics.fleetLeads.remove();
  else loop.start();
  shutdown.add('loop', () => loop.stop());
  shutdown.up(workerStopMs + settings.stopSeconds * 1_000);
  logger.info({ opsPort: ops.port, fleet: fleet.name }, 'running');
}

/** @throws BootError naming the document and what is wrong with it. */
async function offerClasses(
  { engineClassesFile: file }: Settings,
  reconcile: (specs: ReturnType<typeof readEngineClasses>) => Promise<void>,
): Promise<void> {
  if (file === undefined) return;
  let specs;
  try {
    specs = readEngineClasses(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new BootError(`MILLRACE_ENGINE_CLASSES_FILE=${file} is not valid: ${(error as Error).message}.`);
  }
  await reconcile(specs);
}

runMain('fleet', main);
