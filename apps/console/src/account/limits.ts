import type { Account, LimitName, UseName } from '../api/account';
import { formatBytes } from '../ui/format';

/** How a limit is shown. */
export interface LimitView {
  limit: LimitName;
  label: string;
  /** How much of it is in use; absent where the service does not count it for people. */
  use?: UseName;
  /** What the figures count, where the label does not say it. */
  note?: string;
  format: (value: number) => string;
  /** The limit is of each pool, the use of all: it may be more, and is no warning. */
  perPool?: true;
}

const count = (value: number): string => value.toLocaleString();

/** All limits, in the order in which people ask for them. */
const VIEWS: Record<LimitName, Omit<LimitView, 'limit'>> = {
  running_jobs: {
    label: 'Running jobs',
    use: 'running_jobs',
    note: 'In all pools; the limit is for each pool',
    format: count,
    perPool: true,
  },
  queued_jobs: {
    label: 'Waiting jobs',
    use: 'queued_jobs',
    note: 'In all pools; the limit is for each pool',
    format: count,
    perPool: true,
  },
  storage_bytes: { label: 'Storage', use: 'storage_bytes', format: formatBytes },
  upload_bytes_per_day: {
    label: 'Uploads today',
    use: 'uploaded_bytes_today',
    note: 'Since midnight UTC',
    format: formatBytes,
  },
  event_streams: { label: 'Open event streams', use: 'event_streams', format: count },
  requests_per_minute: {
    label: 'Requests in a minute',
    note: 'With all keys, polls of jobs not counted',
    format: count,
  },
  polls_per_minute: { label: 'Polls of jobs in a minute', note: 'With all keys', format: count },
  deployments: { label: 'Deployments of your own', format: count },
  deployment_workers: { label: 'Workers of deployments', note: 'Of all of them together', format: count },
};

export const LIMITS: readonly LimitView[] = Object.entries(VIEWS).map(([limit, view]) => ({
  ...view,
  limit: limit as LimitName,
}));

export interface LimitState {
  /** `3 of 10`, `10`, `3, without a limit`. */
  text: string;
  /** The part that is in use, 0 to 1 and more; null where nothing is counted or there is no limit. */
  share: number | null;
  tone: 'busy' | 'warn' | 'bad';
}

const NEARLY_FULL = 0.8;

/** How much of a limit an account uses. */
export function limitStateOf({ limit, use, format, perPool }: LimitView, account: Account): LimitState {
  const most = account.limits[limit];
  const used = use === undefined ? null : account.use[use];
  if (most === null)
    return { text: `${used === null ? '' : `${format(used)}, `}without a limit`, share: null, tone: 'busy' };
  if (used === null) return { text: format(most), share: null, tone: 'busy' };
  const share = most === 0 ? 1 : used / most;
  const tone = perPool || share < NEARLY_FULL ? 'busy' : share < 1 ? 'warn' : 'bad';
  return { text: `${format(used)} of ${format(most)}`, share, tone };
}
