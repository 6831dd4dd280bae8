/** One limit that an account can have of its own. */
interface AccountLimit {
  /** Its name in code. */
  name: string;
  /** Its name in requests and answers, on the command line, and as a column of `accounts`. */
  field: string;
  /** Its name in `GET /platform/v1/account`, which shows the limit that holds. */
  shownAs: string;
  least: number;
  most: number;
  /** The API's setting with the default of the service; null: an account without a limit of its own has none. */
  default: string | null;
  /** What it counts, in one sentence. */
  description: string;
}

const COUNT = { least: 1, most: 2_000_000_000 };

/**
 * The limits that an account can have of its own; where it has none, the default of the service holds. The account's columns,
 * callers, the admin API, the account's own view and the command line follow from this list. A new limit is an entry here, a
 * migration with its column (and the column in prisma/schema.prisma), and the place that enforces it.
 */
export const ACCOUNT_LIMITS = [
  {
    name: 'runningLimit',
    field: 'running_limit',
    shownAs: 'running_jobs',
    default: 'runningLimitPerAccount',
    ...COUNT,
    description: 'Jobs that may run at once in a pool.',
  },
  {
    name: 'queueLimit',
    field: 'queue_limit',
    shownAs: 'queued_jobs',
    default: 'queueLimitPerAccount',
    ...COUNT,
    description: 'Jobs that may wait in a pool.',
  },
  {
    name: 'requestsPerMinute',
    field: 'requests_per_minute',
    shownAs: 'requests_per_minute',
    default: 'rateLimitPerMinute',
    ...COUNT,
    description: 'Requests in a minute with all keys, polls not counted.',
  },
  {
    name: 'streamLimit',
    field: 'stream_limit',
    shownAs: 'event_streams',
    default: 'maxStreamsPerAccount',
    ...COUNT,
    description: 'Event streams that may be open at once.',
  },
  {
    name: 'uploadBytesPerDay',
    field: 'upload_bytes_per_day',
    shownAs: 'upload_bytes_per_day',
    least: 0,
    most: Number.MAX_SAFE_INTEGER,
    default: null,
    description: 'Bytes that may be uploaded in a day of UTC.',
  },
  {
    name: 'storageBytes',
    field: 'storage_bytes',
    shownAs: 'storage_bytes',
    least: 1,
    most: Number.MAX_SAFE_INTEGER,
    default: 'storageBytesPerAccount',
    description: 'Bytes that may be stored.',
  },
  {
    name: 'deploymentLimit',
    field: 'deployment_limit',
    shownAs: 'deployments',
    default: 'deploymentLimitPerAccount',
    least: 0,
    most: 10_000,
    description: 'Deployments that the account may make itself; 0 means none.',
  },
  {
    name: 'deploymentWorkerLimit',
    field: 'deployment_worker_limit',
    shownAs: 'deployment_workers',
    default: 'deploymentWorkerLimitPerAccount',
    least: 0,
    most: 100_000,
    description: 'Workers that all deployments of the account together may have at most.',
  },
] as const satisfies readonly AccountLimit[];

export type AccountLimitName = (typeof ACCOUNT_LIMITS)[number]['name'];
export type AccountLimitField = (typeof ACCOUNT_LIMITS)[number]['field'];
