import { integer, setting, type SettingsOf } from '@millrace/platform';

/** Heartbeats in the length of a lease: two may fail before it is lost. */
export const BEATS_PER_LEASE = 3;

/** For this long a key is claimed (contract, 4.1). */
const DAY_SECONDS = 86_400;

export const jobSettings = {
  jobRetentionSeconds: setting(
    'JOB_RETENTION_SECONDS',
    'How long a job and its outputs can be retrieved after its submission, in seconds.',
    integer({ min: 60 }).default(604_800),
  ),
  jobExecutionDeadlineSeconds: setting(
    'JOB_EXECUTION_DEADLINE_SECONDS',
    'A job that has not ended this long after its submission becomes expired, in seconds; at the latest after nine tenths of the time that it is kept.',
    integer({ min: 1 }).default(86_400),
  ),
  queueLimitPerAccount: setting(
    'QUEUE_LIMIT_PER_ACCOUNT',
    'Jobs that one account may have waiting in a pool, where the account has no limit of its own.',
    integer({ min: 1 }).default(100),
  ),
  queueLimitPerPool: setting(
    'QUEUE_LIMIT_PER_POOL',
    'Jobs that may wait in a pool, where the pool has no limit of its own.',
    integer({ min: 1 }).default(100_000),
  ),
  runningLimitPerAccount: setting(
    'RUNNING_LIMIT_PER_ACCOUNT',
    'Jobs of one account that may run at once in a pool, where the account has no limit of its own.',
    integer({ min: 1 }).default(100),
  ),
  maxOutputsPerJob: setting(
    'MAX_OUTPUTS_PER_JOB',
    'Outputs that one job may have; its run ends with an error when it makes more.',
    integer({ min: 1, max: 100_000 }).default(1_000),
  ),
  leaseSeconds: setting(
    'LEASE_SECONDS',
    'How long a worker may be silent before it loses its attempt, in seconds.',
    integer({ min: 2, max: 600 }).default(10),
  ),
  attemptLimitSeconds: setting(
    'ATTEMPT_LIMIT_SECONDS',
    'How long one attempt of a job may take, in seconds, where its deployment has no limit of its own. The job then fails with execution_timeout, is charged, and is not tried again.',
    integer({ min: 1 }).default(21_600),
  ),
  maxAttempts: setting(
    'MAX_ATTEMPTS',
    'Attempts of a job whose workers are lost. A failing node is never tried again.',
    integer({ min: 1, max: 100 }).default(3),
  ),
  idempotencySeconds: setting(
    'IDEMPOTENCY_SECONDS',
    'How long an Idempotency-Key stays claimed, in seconds: 24 hours at least, within which a client may repeat its request under it.',
    integer({ min: DAY_SECONDS }).default(DAY_SECONDS),
  ),
  modelWaitSeconds: setting(
    'MODEL_WAIT_SECONDS',
    'How long a job whose turn it is may wait for a worker that has its models on its disk, in seconds, before one that would have to fetch them runs it. The same for workers, gateways and maintenance. 0: who has which models does not matter.',
    integer({ min: 0, max: 600 }).default(10),
  ),
  maxWorkflowBytes: setting(
    'MAX_WORKFLOW_BYTES',
    'Largest body of a submission, in bytes.',
    integer({ min: 1_024, max: 104_857_600 }).default(10_485_760),
  ),
  maxBatchBytes: setting(
    'MAX_BATCH_BYTES',
    'Largest body of a batch, in bytes.',
    integer({ min: 1_024, max: 104_857_600 }).default(10_485_760),
  ),
  maxBatchGraphBytes: setting(
    'MAX_BATCH_GRAPH_BYTES',
    'Bytes of the graphs of all jobs of a batch together, values of its table filled in.',
    integer({ min: 1_024, max: 1_073_741_824 }).default(67_108_864),
  ),
  logTailBytes: setting(
    'LOG_TAIL_BYTES',
    "How much of the end of a run's output is kept, in bytes.",
    integer({ min: 0, max: 10_485_760 }).default(65_536),
  ),
};
export type JobSettings = SettingsOf<typeof jobSettings>;
