import { type AssetService } from '@millrace/assets';
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
import { AccountQueueStore } from './rotation/account-queue.store';
import { AccountQueues } from './rotation/account-queues.service';
import { DispatchLoop } from './dispatch/dispatch.loop';
import { DispatchStore } from './rotation/turn.store';
import { Dispatcher } from './dispatch/dispatcher';
import { ExpireOverdueJobsLoop } from './lifecycle/expire-overdue-jobs.loop';
import { JobAudit } from './audit/job-audit';
import { JobAuditStore } from './audit/job-audit.store';
import { FollowAccountLimitsLoop } from './rotation/follow-account-limits.loop';
import { JobFeed } from './follow/job-streams';
import { JobReads } from './follow/job-reads.service';
import { JobSignals } from './lifecycle/job-events';
import { JobStore } from './follow/job.store';
import type { JobSettings } from './job.settings';
import { Lifecycle } from './lifecycle/lifecycle.service';
import { LifecycleStore } from './lifecycle/lifecycle.store';
import { LaneAudit } from './audit/lane-audit';
import { OperatorJobStore } from './operator/operator-job.store';
import { OperatorJobs } from './operator/operator-jobs.service';
import { OutputRecorder } from './outputs/output-recorder';
import { OutputStore } from './outputs/output.store';
import { QueueOutlook } from './rotation/queue-estimates';
import { MeasureQueuesLoop } from './rotation/measure-queues.loop';
import { QueueDepthStore } from './rotation/queue-depth.store';
import { RecallStoppedJobsLoop } from './lifecycle/recall-stopped-jobs.loop';
import { RequeueMissingJobsLoop } from './dispatch/requeue-missing-jobs.loop';
import { RescueLostJobsLoop } from './lifecycle/rescue-lost-jobs.loop';
import { SubmissionService } from './submission/submission.service';
import { SubmissionStore } from './submission/submission.store';
import { SweepExpiredJobsLoop } from './lifecycle/sweep-expired-jobs.loop';
import { SweepIdempotencyKeysLoop } from './submission/sweep-idempotency-keys.loop';
import { WarmClaims } from './dispatch/warm-claims.service';
import { WarmClaimStore } from './dispatch/warm-claim.store';

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
  const lifecycle = new Lifecycle(database, new LifecycleStore(), signals, dispatcher, metrics, settings);
  const accountQueues = new AccountQueueStore();
  const jobStore = new JobStore();
  const reads = new JobReads(database, jobStore, outlook, live);
  const auditStore = new JobAuditStore();
  const submissionStore = new SubmissionStore(settings);
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
    outputs: new OutputRecorder(database, new OutputStore(), signals),
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
