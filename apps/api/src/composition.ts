import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import {
  AccountStore,
  AccountSubmissionDefaults,
  AccountsService,
  AuditLog,
  AuditLogStore,
  NetworkAccounts,
  RateLimiter,
  SubmissionDefaultsStore,
  composeAuditChainAuditor,
  openAuditArchive,
} from '@millrace/accounts';
import {
  ContentLinks,
  PartLinks,
  StorageAuditor,
  composeArchiveBucket,
  composeAssets,
  openBlobStore,
} from '@millrace/assets';
import { composeBilling, composeExportDestinations, composeTopUps, paymentProviderOf } from '@millrace/billing';
import { BOOT_TIMEOUT_MS, Database, awaitSchema, retryWhileStarting } from '@millrace/database';
import {
  CatalogueReader,
  CatalogueStore,
  DeploymentLife,
  DeploymentLifeStore,
  DeploymentStore,
  DeploymentVersionStore,
  DeploymentVersioning,
  DeploymentsService,
  EngineClassStore,
  PoolStore,
  Targets,
  WorkerStartStore,
  WorkerStore,
  WorkerTokenStore,
  WorkerTokens,
} from '@millrace/deployments';
import {
  JobPresenter,
  composeLabelRules,
  composeSpendCaps,
  composeSubmission,
  type AccountQueues,
} from '@millrace/jobs';
import { RedisConnections, SharedCounters, SharedSlots } from '@millrace/messaging';
import { composeLibraryNames, composeModelNames, composeModels, type ModelNames } from '@millrace/models';
import { Metrics, type Logger, type Shutdown } from '@millrace/platform';
import { composeAccountExports, composeErasureAudit, composeErasures } from '@millrace/privacy';
import { composeWebhookEndpoints } from '@millrace/webhooks';
import { API_SETTINGS, assertDrainEnds, assertMailLinksLead, type ApiSettings } from './api.config';
import { composeAccounts } from './compose-accounts';
import { SELF_HOSTED_ACCOUNT, demoLimits } from './endpoints';
import { AUDITORS } from './operations';
import { PrometheusClient, StatusService } from './status';

/** The services of the libs, each under its class, for both listeners. */
@Global()
@Module({})
class LibsModule {}

/** What the listeners of an api process are built on. */
export interface Libs {
  database: Database;
  metrics: Metrics;
  module: DynamicModule;
}

/**
 * Build what the api process uses of the libs, which know nothing of Nest. The one place where they meet.
 *
 * @throws BootError, SettingsError when the process cannot run as configured.
 */
export async function composeLibs(settings: ApiSettings, logger: Logger, shutdown: Shutdown): Promise<Libs> {
  assertMailLinksLead(settings);
  assertDrainEnds(settings);
  // Where nothing costs credits, none are sold.
  const provider = settings.surface === 'self_hosted' ? null : await paymentProviderOf(settings);
  const metrics = new Metrics('api');
  const database = new Database(settings, 'millrace-api');
  metrics.watchConnections(() => database.connections);
  await awaitSchema(database, logger);
  const redis = new RedisConnections(settings.redisUrl, logger);
  await redis.assertUsable();
  const store = await openBlobStore(settings);
  const { secretKey } = settings;
  const links = new ContentLinks(secretKey, settings.signedUrlSeconds);

  const assets = composeAssets({ database, store, settings });
  const audit = new AuditLog(database, new AuditLogStore());
  const defaults = new AccountSubmissionDefaults(database, new SubmissionDefaultsStore(), audit);
  const models = composeModelNames(database);
  const jobs = composeSubmission({
    database,
    redis,
    assets: assets.assets,
    quota: assets.quota,
    models,
    defaults,
    logger,
    metrics,
    settings,
    secretKey,
  });
  const billing = composeBilling({ database, logger, metrics, settings }, provider);
  const archive = openAuditArchive(settings, (bucket, lockDays) => composeArchiveBucket(settings, bucket, lockDays));
  const accounts = composeAccounts(database, settings, logger, jobs.queues, composeSpendCaps(database));
  const networks = new NetworkAccounts(database, new AccountStore(), secretKey, demoLimits(settings));
  const shared = redis.producer();
  const limiter = new RateLimiter(new SharedCounters(shared));
  await retryWhileStarting(BOOT_TIMEOUT_MS, () => ensureOwnAccount(accounts.services.accounts));

  shutdown.add('database', () => database.close());
  shutdown.add('blob store', () => store.close());
  shutdown.add('archive of the audit log', () => archive?.archive.close());
  shutdown.add('Redis', () => redis.close());
  shutdown.add('jobs', () => jobs.close());
  shutdown.add('refusals', () => accounts.services.refusals.close());
  shutdown.add('API keys', () => accounts.services.authenticator.close());
  shutdown.add('rate limits', () => limiter.close());

  const services: (object | null)[] = [
    database,
    metrics,
    limiter,
    new SharedSlots(shared),
    ...Object.values(accounts.services),
    networks,
    ...composeDeployments(database, settings, jobs.queues, models),
    assets.assets,
    assets.uploads,
    assets.resumable,
    assets.quota,
    assets.content,
    links,
    new JobPresenter(links),
    new PartLinks(secretKey),
    billing.reads,
    billing.credits,
    billing.repair,
    billing.alerts,
    billing.exports,
    ...Object.values(
      composeExportDestinations(
        { database, secretKey, exports: billing.exports, ownBucket: settings.s3Bucket ?? null },
        settings,
      ),
    ),
    billing.payments,
    composeTopUps(database, provider, settings),
    defaults,
    composeLabelRules(database),
    composeSpendCaps(database),
    composeErasures(database, audit, accounts.forget),
    composeAccountExports(database, assets.content),
    jobs.submissions,
    jobs.submissionEstimates,
    jobs.batchSubmissions,
    jobs.batchRetries,
    jobs.batchStreams,
    jobs.batches,
    jobs.operatorJobs,
    jobs.histories,
    jobs.lifecycle,
    jobs.retired,
    jobs.versionFigures,
    jobs.reads,
    jobs.polls,
    jobs.queues,
    jobs.streams,
    ...Object.values(composeModels({ database, assets, settings })),
    composeLibraryNames(database),
    ...Object.values(composeWebhookEndpoints({ database, secretKey, settings })),
    composeStatus(settings, logger),
  ];
  const providers: Provider[] = [
    ...services.filter((service) => service !== null).map(underItsClass),
    { provide: API_SETTINGS, useValue: settings },
    {
      provide: AUDITORS,
      useValue: [
        billing.audit,
        jobs.audit,
        composeAuditChainAuditor(database, archive),
        new StorageAuditor(assets.audit, false),
        assets.countAuditor,
        composeErasureAudit(database, store.notes),
      ],
    },
  ];
  return { database, metrics, module: { module: LibsModule, providers, exports: providers } };
}

function underItsClass(service: object): Provider {
  return { provide: service.constructor as new () => object, useValue: service };
}

function composeDeployments(
  database: Database,
  { pool, priceMicrosPerSecond }: ApiSettings,
  queues: Pick<AccountQueues, 'livingIn'>,
  models: Pick<ModelNames, 'lacking'>,
): object[] {
  const catalogues = new CatalogueReader(database, new CatalogueStore());
  const deployments = new DeploymentsService(database, new DeploymentStore());
  const targets = new Targets(database, new PoolStore(), catalogues, deployments, BigInt(priceMicrosPerSecond));
  const versions = new DeploymentVersionStore();
  const life = new DeploymentLife(
    database,
    deployments,
    new DeploymentLifeStore(),
    versions,
    new EngineClassStore(),
    catalogues,
    (tx, id) => queues.livingIn(tx, id),
    (tx, accountId, named) => models.lacking(tx, accountId, named),
  );
  const versioning = new DeploymentVersioning(database, deployments, life, versions);
  const tokens = new WorkerTokens(database, new WorkerTokenStore(), new PoolStore(), pool);
  return [deployments, life, versioning, targets, new WorkerStore(), new WorkerStartStore(), new PoolStore(), tokens];
}

function composeStatus({ prometheusUrl, prometheusNamespace, pool }: ApiSettings, logger: Logger): StatusService {
  const prometheus = prometheusUrl === undefined ? null : new PrometheusClient(prometheusUrl);
  return new StatusService(prometheus, { pool, namespace: prometheusNamespace }, logger);
}

/** The account that callers of the self-hosted surface act through. */
async function ensureOwnAccount(accounts: AccountsService): Promise<void> {
  await accounts.ensureAccount({ id: SELF_HOSTED_ACCOUNT, name: 'self-hosted', kind: 'self_hosted' });
}
