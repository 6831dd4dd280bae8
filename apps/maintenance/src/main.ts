import 'reflect-metadata';
import {
  AuditLogStore,
  InvitationMailStore,
  InvitationStore,
  MemberDeveloperMails,
  MemberMoneyMails,
  MemberStore,
  NoteExpiringKeysLoop,
  OperatorSessionStore,
  SessionStore,
  SignInLinkStore,
  SignInRequestStore,
  SweepAuditLogLoop,
  SweepSessionsLoop,
  composeAuditChain,
  composeMemberChores,
  openAuditArchive,
} from '@millrace/accounts';
import {
  ContentLinks,
  composeArchiveBucket,
  composeAssets,
  composeNamedBuckets,
  openBlobStore,
} from '@millrace/assets';
import { composeBilling, composeExportDelivery } from '@millrace/billing';
import { Database, MeasureTransactionsLoop, awaitSchema } from '@millrace/database';
import {
  CatalogueStore,
  MeasureWorkersLoop,
  RetireSilentWorkersLoop,
  SweepCataloguesLoop,
  SweepStoppedWorkersLoop,
  WorkerStore,
} from '@millrace/deployments';
import { MailSpendWarningsLoop, composeMaintenance, composeWebhookReaders, labelLoops } from '@millrace/jobs';
import { composeMailDelivery, composeMailOutbox } from '@millrace/mail';
import { RedisConnections } from '@millrace/messaging';
import { composeModelChores } from '@millrace/models';
import {
  AddressGuard,
  Metrics,
  openOpsListener,
  openTracing,
  readSettings,
  runMain,
  type Logger,
  type Shutdown,
} from '@millrace/platform';
import { composeWebhookDelivery } from '@millrace/webhooks';
import { composeErasureChores } from '@millrace/privacy';
import { LoopRunner } from './loop-runner';
import { maintenanceSettings } from './maintenance.config';

/** The maintenance process: every `Loop`. Any number of such processes share them. */
async function main(logger: Logger, shutdown: Shutdown): Promise<void> {
  const settings = readSettings(maintenanceSettings, process.env);
  const tracing = await openTracing('maintenance', settings);
  shutdown.add('tracing', () => tracing.close());
  const metrics = new Metrics('maintenance');
  const database = new Database(settings, 'millrace-maintenance');
  metrics.watchConnections(() => database.connections);
  shutdown.add('database', () => database.close());
  await awaitSchema(database, logger);
  const redis = new RedisConnections(settings.redisUrl, logger);
  shutdown.add('Redis', () => redis.close());
  await redis.assertUsable();
  const store = await openBlobStore(settings);
  shutdown.add('blob store', () => store.close());
  const assets = composeAssets({ database, store, settings });
  const jobs = composeMaintenance({ database, redis, logger, metrics, settings });
  shutdown.add('jobs', () => jobs.close());

  const { secretKey } = settings;
  const readers = composeWebhookReaders(database, new ContentLinks(secretKey, settings.signedUrlSeconds));
  const outbox = composeMailOutbox(secretKey, settings);
  const mails = new MemberDeveloperMails(new MemberStore(), outbox);
  const webhooks = composeWebhookDelivery({ database, secretKey, settings, mails, metrics, logger }, readers);
  shutdown.add('webhooks', () => webhooks.close());

  const models = composeModelChores({ database, assets, settings });
  const moneyMails = new MemberMoneyMails(new MemberStore(), outbox);
  const billing = composeBilling({ database, logger, metrics, settings, moneyMails });
  const { writer, ownBucket } = composeNamedBuckets(settings, new AddressGuard(settings.exportAllowedNetworks));
  const delivered = { database, secretKey, exports: billing.exports, ownBucket, logger };
  const exportDelivery = composeExportDelivery(delivered, writer);
  shutdown.add('export delivery', () => exportDelivery.close());
  const erasures = composeErasureChores({
    database,
    jobs: jobs.eraser,
    assets: assets.eraser,
    notes: store.notes,
    secretKey,
    settings,
  });
  const mail = composeMailDelivery({ database, secretKey, logger, settings });
  shutdown.add('mail', () => mail.close());
  const archive = openAuditArchive(settings, (bucket, lockDays) => composeArchiveBucket(settings, bucket, lockDays));
  shutdown.add('archive of the audit log', () => archive?.archive.close());
  const workers = new WorkerStore();
  const loops = [
    ...jobs.loops,
    ...labelLoops(database),
    ...assets.loops,
    ...billing.loops,
    ...exportDelivery.loops,
    ...webhooks.loops,
    ...models.loops,
    ...erasures.loops,
    ...mail.loops,
    new MailSpendWarningsLoop(database, moneyMails),
    new RetireSilentWorkersLoop(database, workers),
    new MeasureWorkersLoop(database, workers, metrics),
    new MeasureTransactionsLoop(database, metrics),
    new SweepStoppedWorkersLoop(database, workers),
    new SweepCataloguesLoop(database, new CatalogueStore()),
    new NoteExpiringKeysLoop(database),
    ...composeAuditChain({ database, logger, metrics, archive }),
    new SweepAuditLogLoop(database, new AuditLogStore(), settings.auditLogRetentionSeconds),
    ...composeMemberChores(database, secretKey, outbox),
    new SweepSessionsLoop(database, [
      new SessionStore(),
      new SignInLinkStore(),
      new SignInRequestStore(),
      new OperatorSessionStore(),
      new InvitationStore(),
      new InvitationMailStore(),
    ]),
  ];
  const runners = loops.map((loop) => new LoopRunner(loop, database, metrics, logger));
  const readiness = [{ name: 'database', check: () => database.ping() }];
  const ops = await openOpsListener({
    host: settings.opsHost,
    port: settings.opsPort,
    logger,
    metrics,
    shutdown,
    readiness,
  });
  shutdown.add('ops listener', () => ops.close());
  for (const runner of runners) runner.start();
  shutdown.add('loops', async () => {
    await Promise.all(runners.map((runner) => runner.stop()));
  });
  // Before the loops are stopped: what is fetched is cut, and goes on elsewhere.
  shutdown.add('model imports', () => models.close());
  shutdown.up(settings.stopSeconds * 1000);
  logger.info({ opsPort: ops.port, loops: loops.map((loop) => loop.name) }, 'running');
}

runMain('maintenance', main);
