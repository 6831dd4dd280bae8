import {
  AccountStore,
  AccountsService,
  ApiKeyStore,
  ApiKeysService,
  AuditLog,
  AuditLogStore,
  Authenticator,
  RateLimiter,
} from '@millrace/accounts';
import {
  AssetService,
  ContentLinks,
  ContentService,
  PartLinks,
  ResumableUploadService,
  StorageAuditor,
  UploadService,
  composeAssets,
  openBlobStore,
} from '@millrace/assets';
import {
  CreditReads,
  CreditsService,
  PaymentsService,
  TopUpsService,
  composeBilling,
  composeTopUps,
  paymentProviderOf,
} from '@millrace/billing';
import { BOOT_PATIENCE_MS, Database, awaitSchema, patiently } from '@millrace/database';
import {
  CatalogueReader,
  CatalogueStore,
  DeploymentStore,
  DeploymentsService,
  PoolStore,
  Targets,
  WorkerStore,
} from '@millrace/deployments';
import {
  AccountQueues,
  JobFeed,
  JobReads,
  Lifecycle,
  OperatorJobs,
  SubmissionService,
  composeJobs,
} from '@millrace/jobs';
import { RedisConnections, SharedCounters } from '@millrace/messaging';
import { Metrics, type Logger, type Shutdown } from '@millrace/platform';
import { ADMIN_CONTROLLERS } from './admin.controllers';
import { AdminDoor } from './endpoints/admin-door';
import { AUDITORS } from './operations/audit.admin-controller';
import type { ApiSettings } from './api.config';
import { AssetPresenter } from './assets/asset.presenter';
import { AssetsController, IDEMPOTENCY_SECONDS } from './assets/assets.controller';
import { Callers, DEMO_ACCOUNT, SELF_HOSTED_ACCOUNT } from './endpoints/callers';
import { PartsController, UploadsController } from './uploads/uploads.controller';
import { UploadPresenter } from './uploads/upload.presenter';
import { RequestLimits } from './endpoints/request-limits';
import { ContentController } from './assets/content.controller';
import { ContentSender } from './assets/content-sender';
import { DeploymentPresenter } from './deployments/deployment.presenter';
import { Destinations } from './jobs/destinations';
import { EventsController } from './jobs/events.controller';
import { JobPresenter } from './jobs/job.presenter';
import { JobsController, MAX_WORKFLOW_BYTES } from './jobs/jobs.controller';
import type { PublicParts } from './http/public-app';
import { AdminDocumentController, PlatformDocumentController } from './openapi/document-controllers';
import { OpenApiController } from './openapi/openapi.controller';
import { AccountOverview } from './accounts/account-overview';
import { PlatformDoor } from './endpoints/platform-door';
import { PLATFORM_CONTROLLERS } from './platform.controllers';
import { Streams } from './http/streams';

/** What the api process serves: on its public listener, and to operators. */
export interface Api {
  database: Database;
  metrics: Metrics;
  streams: Streams;
  public: Pick<PublicParts, 'controllers' | 'providers'>;
  ops: Pick<PublicParts, 'controllers' | 'providers'>;
}

/**
 * Wire the api process. Every object is made here, once, and handed to Nest as it is.
 *
 * @throws BootError, SettingsError when it cannot run as configured.
 */
export async function composeApi(settings: ApiSettings, logger: Logger, shutdown: Shutdown): Promise<Api> {
  // Where nothing costs credits, none are sold.
  const provider = settings.surface === 'self_hosted' ? null : await paymentProviderOf(settings);
  const metrics = new Metrics('api');
  const database = new Database(settings, 'millrace-api');
  await awaitSchema(database, logger);
  const redis = new RedisConnections(settings.redisUrl, logger);
  await redis.assertNoEviction();
  const store = await openBlobStore(settings);

  const accountStore = new AccountStore();
  const apiKeys = new ApiKeyStore();
  const audit = new AuditLog(database, new AuditLogStore());
  const authenticator = new Authenticator(database, apiKeys, logger);
  const { keyEnvironment } = settings;
  const forget = (): void => authenticator.forget();
  const keys = new ApiKeysService(database, accountStore, apiKeys, audit, keyEnvironment, forget);

  const assets = composeAssets({ database, store, settings });
  const catalogues = new CatalogueReader(database, new CatalogueStore());
  const deployments = new DeploymentsService(database, new DeploymentStore());
  const price = BigInt(settings.priceMicrosPerSecond);
  const targets = new Targets(database, new PoolStore(), catalogues, deployments, price);
  const deploymentPresenter = new DeploymentPresenter(settings.deploymentDomain, price);
  const { secretKey } = settings;
  const jobs = composeJobs({ database, redis, assets: assets.assets, logger, metrics, settings, secretKey });

  const partLinks = new PartLinks(secretKey);
  const follow: typeof jobs.queues.follow = (tx, account) => jobs.queues.follow(tx, account);
  const accounts = new AccountsService(database, accountStore, audit, follow, forget);
  await patiently(BOOT_PATIENCE_MS, async () => {
    await accounts.ensureAccount({ id: SELF_HOSTED_ACCOUNT, name: 'self-hosted', kind: 'self_hosted' });
    await accounts.ensureAccount({ id: DEMO_ACCOUNT, name: 'callers of demo deployments', kind: 'demo' });
  });

  const billing = composeBilling({ database, logger, metrics, settings }, provider);

  // Lanes hold entries of ended jobs while work goes on; only a drained stack can be audited for them.
  const liveAuditors = jobs.auditors.filter(({ name }) => name !== 'lanes');
  const links = new ContentLinks([secretKey], settings.signedUrlSeconds);
  const limiter = new RateLimiter(new SharedCounters(redis.producer()));
  const limits = new RequestLimits(limiter, settings);
  const destinations = new Destinations(targets, settings.pool);
  const callers = new Callers(authenticator, deployments, settings, limits);
  const streams = new Streams(metrics, settings.maxStreamsPerAccount);

  shutdown.add('database', () => database.close());
  shutdown.add('blob store', () => store.close());
  shutdown.add('Redis', () => redis.close());
  shutdown.add('jobs', () => jobs.close());
  shutdown.add('API keys', () => authenticator.close());
  shutdown.add('rate limits', () => limiter.close());

  return {
    database,
    metrics,
    streams,
    public: {
      controllers: [
        JobsController,
        EventsController,
        AssetsController,
        ContentController,
        UploadsController,
        PartsController,
        OpenApiController,
        ...PLATFORM_CONTROLLERS,
        PlatformDocumentController,
      ],
      providers: [
        { provide: Callers, useValue: callers },
        { provide: CreditReads, useValue: billing.reads },
        { provide: TopUpsService, useValue: composeTopUps(database, provider, settings) },
        { provide: PaymentsService, useValue: billing.payments },
        { provide: AuditLog, useValue: audit },
        { provide: PlatformDoor, useValue: new PlatformDoor(callers) },
        {
          provide: AccountOverview,
          useValue: new AccountOverview(accounts, jobs.queues, assets.uploads, streams, limits, settings),
        },
        { provide: ApiKeysService, useValue: keys },
        { provide: DeploymentsService, useValue: deployments },
        { provide: DeploymentPresenter, useValue: deploymentPresenter },
        { provide: Destinations, useValue: destinations },
        { provide: SubmissionService, useValue: jobs.submissions },
        { provide: Lifecycle, useValue: jobs.lifecycle },
        { provide: JobReads, useValue: jobs.reads },
        { provide: JobFeed, useValue: jobs.feed() },
        { provide: JobPresenter, useValue: new JobPresenter(links) },
        { provide: Streams, useValue: streams },
        { provide: MAX_WORKFLOW_BYTES, useValue: settings.maxWorkflowBytes },
        { provide: AssetService, useValue: assets.assets },
        { provide: UploadService, useValue: assets.uploads },
        { provide: ResumableUploadService, useValue: assets.resumable },
        { provide: PartLinks, useValue: partLinks },
        { provide: UploadPresenter, useValue: new UploadPresenter(partLinks, settings.signedUrlSeconds) },
        { provide: ContentService, useValue: assets.content },
        { provide: ContentLinks, useValue: links },
        { provide: ContentSender, useValue: new ContentSender(assets.assets, assets.content, links) },
        { provide: AssetPresenter, useValue: new AssetPresenter(links) },
        { provide: IDEMPOTENCY_SECONDS, useValue: settings.idempotencySeconds },
      ],
    },
    ops: {
      controllers: [...ADMIN_CONTROLLERS, AdminDocumentController],
      providers: [
        { provide: AdminDoor, useValue: new AdminDoor(settings.adminToken) },
        { provide: AuditLog, useValue: audit },
        { provide: Database, useValue: database },
        { provide: WorkerStore, useValue: new WorkerStore() },
        { provide: AccountQueues, useValue: jobs.queues },
        { provide: OperatorJobs, useValue: jobs.operatorJobs },
        { provide: Destinations, useValue: destinations },
        { provide: AccountsService, useValue: accounts },
        { provide: ApiKeysService, useValue: keys },
        { provide: DeploymentsService, useValue: deployments },
        { provide: DeploymentPresenter, useValue: deploymentPresenter },
        { provide: Lifecycle, useValue: jobs.lifecycle },
        { provide: CreditsService, useValue: billing.credits },
        { provide: AUDITORS, useValue: [billing.audit, ...liveAuditors, new StorageAuditor(assets.audit, false)] },
      ],
    },
  };
}
