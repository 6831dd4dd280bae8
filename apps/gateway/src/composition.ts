import type { DynamicModule } from '@nestjs/common';
import { FailedAttempts, RateLimiter } from '@millrace/accounts';
import { ContentService, OutputUploads, composeAssets, openBlobStore } from '@millrace/assets';
import type { DispatchMessage } from '@millrace/contracts';
import { Database } from '@millrace/database';
import {
  CatalogueStore,
  PoolStore,
  WorkerStartStore,
  WorkerStore,
  WorkerTokenStore,
  WorkerTokens,
} from '@millrace/deployments';
import { JobEvents, Lifecycle, OutputRecorder, RemoteAttempts, WarmClaims, composeExecution } from '@millrace/jobs';
import {
  EphemeralSecrets,
  LaneConsumer,
  SharedCounters,
  listenForControl,
  type RedisConnections,
} from '@millrace/messaging';
import { ModelLibrarySource, composeModelSource } from '@millrace/models';
import { KeyRing, Metrics, type Logger, type Shutdown } from '@millrace/platform';
import {
  AttemptsController,
  BytesController,
  GraphNames,
  HeldAttempts,
  ModelsController,
  OutputReceipts,
  DeploymentModelsController,
} from './attempts';
import type { GatewaySettings } from './gateway.config';
import { GatewayRules } from './gateway-rules';
import { RequestBodies, RequestsUnderWay, TokenAllowance, WorkerTokenGuard } from './http';
import { WorkerControls, WorkerLanes } from './lanes';
import { MessagesController, WorkersController } from './workers';

/** Tokens from one network that are not valid, per minute, before it is refused. */
const FAILURES_PER_MINUTE = 60;

interface GatewayParts {
  settings: GatewaySettings;
  database: Database;
  redis: RedisConnections;
  logger: Logger;
  metrics: Metrics;
  shutdown: Shutdown;
}

class GatewayModule {}

/** Wire the gateway. What it opens, `shutdown` closes; those who wait for messages are answered first. */
export async function composeGateway(
  parts: GatewayParts,
): Promise<{ module: DynamicModule; stopWaiting: () => Promise<void> }> {
  const { settings, database, redis, logger, metrics, shutdown } = parts;
  const { secretKey } = settings;
  const bodyLimits = { bytes: settings.bodyBytesInFlight, bytesPerToken: settings.bodyBytesInFlightPerToken };
  const store = await openBlobStore(settings);
  shutdown.add('blob store', () => store.close());
  const assets = composeAssets({ database, store, settings });
  const { content, outputUploads } = assets;
  const remote = new RemoteAttempts(database);
  const jobs = composeExecution({ database, redis, logger, metrics, settings, secretKey });
  shutdown.add('jobs', () => jobs.close());
  const limiter = new RateLimiter(new SharedCounters(redis.producer()));
  shutdown.add('rate limiter', () => limiter.close());
  const consumer = redis.consumer();
  const onError = (error: Error): void => logger.debug({ err: error }, 'a lane has a problem');
  const leave = (poolId: string, left: DispatchMessage): Promise<void> => jobs.dispatcher.leave(poolId, left);
  const lanes = new WorkerLanes(
    {
      open: (poolId, take) => new LaneConsumer(consumer, poolId, take, (left) => leave(poolId, left), onError),
      leave,
      isOffered: (poolId, message) => remote.isOffered(poolId, message),
    },
    metrics,
    settings.workersPerToken,
  );
  // One connection for the messages to all pools, and a listener for each.
  const subscriber = redis.subscriber().setMaxListeners(0);
  const controls = new WorkerControls(
    (poolId, listener) => listenForControl(subscriber, poolId, listener),
    remote,
    logger,
  );
  const services: [abstract new (...given: never[]) => unknown, unknown][] = [
    [Database, database],
    [Metrics, metrics],
    [KeyRing, secretKey],
    [ContentService, content],
    [OutputUploads, outputUploads],
    [ModelLibrarySource, composeModelSource({ database, assets })],
    [WarmClaims, jobs.claims],
    [Lifecycle, jobs.lifecycle],
    [OutputRecorder, jobs.outputs],
    [JobEvents, jobs.events],
    [EphemeralSecrets, jobs.secrets],
    [RemoteAttempts, remote],
    [HeldAttempts, new HeldAttempts(remote)],
    [OutputReceipts, new OutputReceipts(secretKey)],
    [GraphNames, new GraphNames()],
    [WorkerStore, new WorkerStore()],
    [WorkerStartStore, new WorkerStartStore()],
    [CatalogueStore, new CatalogueStore()],
    [WorkerTokens, new WorkerTokens(database, new WorkerTokenStore(), new PoolStore())],
    [FailedAttempts, new FailedAttempts(FAILURES_PER_MINUTE, logger)],
    [RateLimiter, limiter],
    [TokenAllowance, new TokenAllowance(limiter, settings.requestsPerMinute)],
    [RequestBodies, new RequestBodies(bodyLimits)],
    [RequestsUnderWay, new RequestsUnderWay(settings)],
    [GatewayRules, new GatewayRules(settings)],
    [WorkerLanes, lanes],
    [WorkerControls, controls],
  ];
  const module: DynamicModule = {
    module: GatewayModule,
    controllers: [
      WorkersController,
      MessagesController,
      AttemptsController,
      BytesController,
      ModelsController,
      DeploymentModelsController,
    ],
    providers: [WorkerTokenGuard, ...services.map(([provide, useValue]) => ({ provide, useValue }))],
  };
  return {
    module,
    stopWaiting: async () => {
      controls.close();
      await lanes.close();
    },
  };
}
