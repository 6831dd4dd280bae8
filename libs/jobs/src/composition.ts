import { OutputAssetStore, type AssetService } from '@millrace/assets';
import { LedgerStore, type BillingSettings } from '@millrace/billing';
import type { Database } from '@millrace/database';
import { PoolStore, WorkerStore } from '@millrace/deployments';
import {
  EphemeralSecrets,
  LaneProducer,
  LivePublisher,
  LiveSubscriber,
  forgetSecret,
  sendControl,
  type RedisConnections,
} from '@millrace/messaging';
import type { Auditor, Logger, Loop, Metrics } from '@millrace/platform';
import { AccountQueueStore } from './account-queue.store';
import { AccountQueues } from './account-queues.service';
import { DispatchLoop } from './dispatch.loop';
import { DispatchStore } from './dispatch.store';
import { Dispatcher } from './dispatcher';
import { ExpireOverdueJobsLoop } from './expire-overdue-jobs.loop';
import { JobAudit } from './job-audit';
import { JobAuditStore } from './job-audit.store';
import { FollowAccountLimitsLoop } from './follow-account-limits.loop';
import { JobFeed } from './job-feed';
import { JobReads } from './job-reads.service';
import { JobSignals } from './job-signals';
import { JobStore } from './job.store';
import type { JobSettings } from './job.settings';
import { Lifecycle } from './lifecycle.service';
import { LifecycleStore } from './lifecycle.store';
import { LaneAudit } from './lane-audit';
import { OperatorJobStore } from './operator-job.store';
import { OperatorJobs } from './operator-jobs.service';
import { OutputRecorder } from './output-recorder';
import { OutputStore } from './output.store';
import { QueueOutlook } from './queue-outlook';
import { MeasureQueuesLoop } from './measure-queues.loop';
import { QueueDepthStore } from './queue-depth.store';
import { RecallStoppedJobsLoop } from './recall-stopped-jobs.loop';
import { RequeueMissingJobsLoop } from './requeue-missing-jobs.loop';
import { RescueLostJobsLoop } from './rescue-lost-jobs.loop';
import { SubmissionService } from './submission.service';
import { SubmissionStore } from './submission.store';
import { SweepExpiredJobsLoop } from './sweep-expired-jobs.loop';
import { SweepIdempotencyKeysLoop } from './sweep-idempotency-keys.loop';
import { WarmClaims } from './warm-claims.service';
import { WarmClaimStore } from './warm-claim.store';

/** What jobs are built on, made by the process that uses them. */
export interface JobsParts {
  database: Database;
  redis: RedisConnections;
  assets: AssetService;
  logger: Logger;
  metrics: Metrics;
  settings: JobSettings & BillingSettings;
  /** Null in processes that never hold forwarded credentials. */
  secretKey: Buffer | null;
}

/** The use cases of jobs, wired. Every process takes from it what it needs. */
export interface Jobs {
  submissions: SubmissionService | null;
  operatorJobs: OperatorJobs | null;
  lifecycle: Lifecycle;
  /** How workers take attempts. */
  claims: WarmClaims;
  reads: JobReads;
  queues: AccountQueues;
  outputs: OutputRecorder;
  signals: JobSignals;
  dispatcher: Dispatcher;
  secrets: EphemeralSecrets | null;
  /** Chores, for the process that runs chores. */
  loops: Loop[];
  /** Proofs of what always holds. */
  auditors: Auditor[];
  /** Opens a connection of its own for subscriptions. */
  feed(): JobFeed;
  close(): Promise<void>;
}

/** Wire the jobs of one process. Connects to nothing by itself but the Redis connection of its producers. */
export function composeJobs(parts: JobsParts): Jobs {
  const { database, redis, assets, logger, metrics, settings } = parts;
  const producer = redis.producer();
  const live = new LivePublisher(producer);
  const secrets = parts.secretKey === null ? null : new EphemeralSecrets(producer, parts.secretKey);
  const signals = new JobSignals(
    live,
    (jobId) => forgetSecret(producer, jobId),
    (poolId, message) => sendControl(producer, poolId, message),
  );
  const lanes = new LaneProducer(producer);
  const dispatchStore = new DispatchStore();
  const pools = new PoolStore();
  const workers = new WorkerStore();
  const dispatcher = new Dispatcher(database, dispatchStore, pools, workers, lanes, logger);
  const outlook = new QueueOutlook(database, dispatchStore, workers);
  const ledger = new LedgerStore();
  const lifecycle = new Lifecycle(database, new LifecycleStore(ledger), signals, dispatcher, metrics, settings);
  const accountQueues = new AccountQueueStore();
  const jobStore = new JobStore();
  const reads = new JobReads(database, jobStore, outlook, live);
  const auditStore = new JobAuditStore();
  const submissionStore = new SubmissionStore(ledger, settings);
  const submissions =
    secrets &&
    new SubmissionService(database, submissionStore, ledger, assets, secrets, outlook, dispatcher, metrics, settings);
  return {
    submissions,
    operatorJobs: submissions && new OperatorJobs(database, new OperatorJobStore(), lifecycle, submissions),
    lifecycle,
    claims: new WarmClaims(database, new WarmClaimStore(), lifecycle, dispatcher),
    reads,
    queues: new AccountQueues(database, accountQueues, new QueueDepthStore(), settings),
    outputs: new OutputRecorder(database, new OutputStore(new OutputAssetStore()), signals),
    signals,
    dispatcher,
    secrets,
    loops: [
      new DispatchLoop(database, pools, dispatcher),
      new RequeueMissingJobsLoop(database, pools, dispatcher),
      new FollowAccountLimitsLoop(database, accountQueues, settings),
      new RescueLostJobsLoop(lifecycle),
      new RecallStoppedJobsLoop(lifecycle),
      new MeasureQueuesLoop(database, new QueueDepthStore(), metrics),
      new ExpireOverdueJobsLoop(lifecycle),
      new SweepExpiredJobsLoop(database, jobStore),
      new SweepIdempotencyKeysLoop(database),
    ],
    auditors: [new JobAudit(database, auditStore), new LaneAudit(database, auditStore, pools, lanes)],
    feed: () => new JobFeed(reads, new LiveSubscriber(redis.subscriber()), live),
    close: () => lanes.close(),
  };
}
