import type { AccountSubmissionDefaults } from '@millrace/accounts';
import type { AssetService, AssetSettings, StorageQuota } from '@millrace/assets';
import { LedgerStore, type BillingSettings } from '@millrace/billing';
import type { Database, DatabaseSettings } from '@millrace/database';
import { PoolStore, WorkerStore } from '@millrace/deployments';
import {
  EphemeralSecrets,
  GoneWorkers,
  KeptLanes,
  LaneProducer,
  LivePublisher,
  LiveSubscriber,
  forgetSecret,
  sendControl,
  type RedisConnections,
} from '@millrace/messaging';
import type { KeyRing, Logger, Loop, Metrics } from '@millrace/platform';
import { JobAudit } from './audit';
import {
  CancelBatchesLoop,
  CompleteBatchesLoop,
  SweepExpiredBatchesLoop,
  composeBatches,
  type ComposedBatches,
} from './batches';
import {
  Claims,
  Dispatcher,
  SetAsideStore,
  composeDispatchLoops,
  UnclaimedStore,
  WarmClaimStore,
  WarmClaims,
} from './dispatch';
import { SubmissionExaminer } from './examination';
import { JobPolls, JobReads, JobStore, JobStreams, QueueEndsStore, QueueRanks } from './follow';
import { JobEraser, JobErasureStore } from './erasure';
import { VersionFigures, VersionFiguresStore } from './figures';
import type { JobSettings } from './job.settings';
import { LabelRuleStore } from './labels';
import { EndLeasesOfGoneWorkersLoop } from './leases';
import {
  EndCanceledJobsLoop,
  EndOvertimeJobsLoop,
  ExpireOverdueJobsLoop,
  JobEvents,
  Lifecycle,
  RecallStoppedJobsLoop,
  RescueLostJobsLoop,
  ResumePausedJobsLoop,
  SweepExpiredJobsLoop,
} from './lifecycle';
import { CountJobsLoop, ForgetGonePools, GonePoolStore, JobMoveStore } from './objectives';
import { JobHistories, JobHistoryStore, OperatorJobStore, OperatorJobs } from './operator';
import { OutputRecorder, OutputStore } from './outputs';
import { MoveRetiredJobsLoop, RetiredJobs, RetiredPoolStore } from './retired';
import { JobReuse, ReuseStore } from './reuse';
import {
  AccountQueueStore,
  AccountQueues,
  DeleteDrainedDeploymentsLoop,
  DrainedDeploymentStore,
  FollowAccountLimitsLoop,
  IdleQueueStore,
  MeasureQueuesLoop,
  QueueDepthStore,
  QueueEstimates,
  SweepAccountQueuesLoop,
  SweepDemoNetworksLoop,
  TurnStore,
} from './rotation';
import { composeSpendLoops } from './spend';
import {
  GroupStore,
  RunTimesStore,
  SubmissionChecks,
  SubmissionEstimates,
  SubmissionGroups,
  SubmissionRecorder,
  SubmissionService,
  SubmissionStore,
  SweepIdempotencyKeysLoop,
  type ModelNames,
} from './submission';

/** What jobs are built on, made by the process that uses them. */
export interface JobsParts {
  database: Database;
  redis: RedisConnections;
  logger: Logger;
  metrics: Metrics;
  settings: JobSettings & BillingSettings;
}

/** What accepting jobs is built on beside that. */
interface SubmissionParts extends JobsParts {
  settings: JobsParts['settings'] & Pick<AssetSettings, 'storageBytesPerAccount'>;
  assets: AssetService;
  quota: Pick<StorageQuota, 'usedBytes'>;
  models: ModelNames;
  defaults: Pick<AccountSubmissionDefaults, 'of'>;
  secretKey: KeyRing;
}

/** What a process has that accepts jobs and shows them. */
export interface JobSubmission extends ComposedBatches {
  submissions: SubmissionService;
  submissionEstimates: SubmissionEstimates;
  operatorJobs: OperatorJobs;
  histories: JobHistories;
  lifecycle: Lifecycle;
  retired: RetiredJobs;
  versionFigures: VersionFigures;
  reads: JobReads;
  polls: JobPolls;
  /** On a Redis connection of its own, for its subscriptions. */
  streams: JobStreams;
  queues: AccountQueues;
  audit: JobAudit;
  close(): Promise<void>;
}

/** Wire what accepts jobs and shows them. */
export function composeSubmission(parts: SubmissionParts): JobSubmission {
  const { database, redis, assets, quota, metrics, settings } = parts;
  const { live, dispatcher, lifecycle, close } = composeMoves(parts);
  const stores = { queues: new AccountQueueStore(), jobs: new JobStore() };
  const estimates = new QueueEstimates(database, stores.queues, new WorkerStore());
  const reads = new JobReads(database, stores.jobs, estimates, new QueueRanks(database, new QueueEndsStore()), live);
  const examiner = new SubmissionExaminer();
  const store = new SubmissionStore(settings);
  const checks = new SubmissionChecks(assets, parts.models, estimates, settings);
  const ledger = new LedgerStore();
  const reuse = new JobReuse(database, new ReuseStore(settings), assets, parts.defaults, metrics);
  const recorder = new SubmissionRecorder(
    database,
    store,
    new SubmissionGroups(database, store, new GroupStore(settings), dispatcher),
    ledger,
    new EphemeralSecrets(redis.producer(), parts.secretKey),
    dispatcher,
    settings,
  );
  const submissions = new SubmissionService(
    database,
    recorder,
    checks,
    estimates,
    dispatcher,
    examiner,
    parts.defaults,
    reuse,
    metrics,
    settings,
  );
  const submissionEstimates = new SubmissionEstimates(
    database,
    examiner,
    checks,
    new RunTimesStore(),
    estimates,
    ledger,
    quota,
    reuse,
    settings,
  );
  return {
    submissions,
    submissionEstimates,
    ...composeBatches({
      ...{ database, ledger, checks, examiner, dispatcher, metrics, settings, reads, lifecycle },
      ...{ ...stores, defaults: parts.defaults },
    }),
    histories: new JobHistories(database, new JobHistoryStore()),
    operatorJobs: new OperatorJobs(database, new OperatorJobStore(), lifecycle, submissions),
    lifecycle,
    retired: composeRetiredJobs(database, dispatcher, settings),
    versionFigures: new VersionFigures(database, new VersionFiguresStore()),
    reads,
    polls: new JobPolls(reads, live),
    streams: new JobStreams(reads, new LiveSubscriber(redis.subscriber()), live),
    queues: new AccountQueues(database, stores.queues, new QueueDepthStore(), settings),
    audit: new JobAudit(database),
    close: async () => {
      await examiner.close();
      await close();
    },
  };
}

/** What a process has that runs attempts. */
export interface JobExecution {
  /** How it takes attempts. */
  claims: WarmClaims;
  lifecycle: Lifecycle;
  outputs: OutputRecorder;
  events: JobEvents;
  dispatcher: Dispatcher;
  secrets: EphemeralSecrets;
  close(): Promise<void>;
}

/** Wire what runs attempts. */
export function composeExecution(parts: JobsParts & { secretKey: KeyRing }): JobExecution {
  const { database, redis, settings, secretKey } = parts;
  const { events, dispatcher, lifecycle, close } = composeMoves(parts);
  const claims = new Claims(events, settings);
  return {
    claims: new WarmClaims(database, new WarmClaimStore(), new SetAsideStore(), claims, dispatcher, settings),
    lifecycle,
    outputs: new OutputRecorder(database, new OutputStore(settings), events, lifecycle, settings),
    events,
    dispatcher,
    secrets: new EphemeralSecrets(redis.producer(), secretKey),
    close,
  };
}

/** What a process has that looks after jobs. */
export interface JobMaintenance {
  loops: Loop[];
  eraser: JobEraser;
  close(): Promise<void>;
}

/** Wire what looks after jobs: every loop there is. */
export function composeMaintenance(
  parts: JobsParts & { settings: Pick<DatabaseSettings, 'databaseTimeoutMs'> },
): JobMaintenance {
  const { database, redis, metrics, settings } = parts;
  const { lanes, live, dispatcher, lifecycle, close } = composeMoves(parts);
  return {
    loops: [
      ...composeDispatchLoops({ database, dispatcher, lanes, kept: new KeptLanes(redis.producer()) }),
      new FollowAccountLimitsLoop(database, new AccountQueueStore(), settings),
      new EndLeasesOfGoneWorkersLoop(database, new GoneWorkers(redis.producer()), settings),
      new RescueLostJobsLoop(database, lifecycle),
      new ResumePausedJobsLoop(database, lifecycle),
      new EndCanceledJobsLoop(database, lifecycle),
      new RecallStoppedJobsLoop(database),
      new MoveRetiredJobsLoop(composeRetiredJobs(database, dispatcher, settings)),
      new DeleteDrainedDeploymentsLoop(database, new DrainedDeploymentStore()),
      new MeasureQueuesLoop(database, new QueueDepthStore(), metrics),
      new CountJobsLoop(database, new JobMoveStore(), metrics, settings),
      new ExpireOverdueJobsLoop(database, lifecycle),
      new EndOvertimeJobsLoop(database, lifecycle, settings.attemptLimitSeconds),
      new CancelBatchesLoop(database, lifecycle),
      ...composeSpendLoops(database, lifecycle),
      new CompleteBatchesLoop(database),
      new SweepExpiredJobsLoop(database),
      new SweepExpiredBatchesLoop(database),
      new SweepIdempotencyKeysLoop(database),
      new SweepAccountQueuesLoop(database, new IdleQueueStore()),
      new SweepDemoNetworksLoop(database, new AccountQueueStore()),
    ],
    eraser: new JobEraser(database, new JobErasureStore(), new LabelRuleStore(), lifecycle, live),
    close,
  };
}

/** Wire what takes jobs from versions of deployments that are out of use. */
function composeRetiredJobs(
  database: Database,
  dispatcher: Pick<Dispatcher, 'requestDispatch'>,
  { priceMicrosPerSecond }: Pick<BillingSettings, 'priceMicrosPerSecond'>,
): RetiredJobs {
  const store = new RetiredPoolStore(BigInt(priceMicrosPerSecond));
  return new RetiredJobs(database, store, (poolId) => dispatcher.requestDispatch(poolId));
}

/** What moves jobs, in every process that does, and counts them by pool. A move asks the dispatcher to fill the lane. */
function composeMoves({ database, redis, logger, metrics, settings }: JobsParts): {
  lanes: LaneProducer;
  live: LivePublisher;
  events: JobEvents;
  dispatcher: Dispatcher;
  lifecycle: Lifecycle;
  close: () => Promise<void>;
} {
  const producer = redis.producer();
  const lanes = new LaneProducer(producer);
  const live = new LivePublisher(producer);
  const events = new JobEvents(
    live,
    (jobId) => forgetSecret(producer, jobId),
    (poolId, message) => sendControl(producer, poolId, message),
  );
  const stores = [new TurnStore(), new UnclaimedStore(), new PoolStore(), new WorkerStore()] as const;
  const dispatcher = new Dispatcher(database, ...stores, lanes, logger, settings);
  const requestDispatch = (poolId: string): void => dispatcher.requestDispatch(poolId);
  const lifecycle = new Lifecycle(database, events, requestDispatch, metrics, settings);
  const forgetting = new ForgetGonePools(database, new GonePoolStore(), metrics, logger);
  const close = async (): Promise<void> => {
    await forgetting.stop();
    await dispatcher.close();
    await lanes.close();
  };
  return { lanes, live, events, dispatcher, lifecycle, close };
}
