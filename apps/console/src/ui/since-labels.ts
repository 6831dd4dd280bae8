import type { Since } from '../api/jobs';

/** How far back a list goes, as filters call it. */
export const SINCE_LABELS: Record<Since, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};
