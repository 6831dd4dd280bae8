import { integer, setting } from '@millrace/platform';

const count = integer({ min: 1, max: 2_000_000_000 });

/** What demo deployments give to callers without a credential. A network is an address, of IPv6 its first 64 bits. */
export const demoSettings = {
  demoRateLimitPerMinute: setting(
    'DEMO_RATE_LIMIT_PER_MINUTE',
    'Requests that one address may send to demo deployments in a minute; of polls ten times as many.',
    count.default(600),
  ),
  demoUploadBytesPerDay: setting(
    'DEMO_UPLOAD_BYTES_PER_DAY',
    'Bytes that all callers of one demo deployment together may upload in a day of UTC.',
    integer({ min: 0 }).default(1_073_741_824),
  ),
  demoQueueLimit: setting(
    'DEMO_QUEUE_LIMIT',
    'Jobs of one network that may wait in a demo deployment. Those of all networks: QUEUE_LIMIT_PER_POOL.',
    count.default(5),
  ),
  demoRunningLimit: setting(
    'DEMO_RUNNING_LIMIT',
    'Jobs of one network that may run at once in a demo deployment.',
    count.default(2),
  ),
  demoStreamLimit: setting(
    'DEMO_STREAM_LIMIT',
    'Event streams that one network may have open at a demo deployment.',
    count.default(10),
  ),
  demoNetworkUploadBytesPerDay: setting(
    'DEMO_NETWORK_UPLOAD_BYTES_PER_DAY',
    'Of DEMO_UPLOAD_BYTES_PER_DAY, bytes that one network may upload.',
    integer({ min: 0 }).default(134_217_728),
  ),
  demoStorageBytes: setting(
    'DEMO_STORAGE_BYTES',
    'Bytes that one network may store at a demo deployment, outputs of its jobs included.',
    integer({ min: 1 }).default(536_870_912),
  ),
  demoRetentionSeconds: setting(
    'DEMO_RETENTION_SECONDS',
    'How long uploads and jobs of demo deployments are kept at most, in seconds.',
    integer({ min: 60 }).default(86_400),
  ),
};
