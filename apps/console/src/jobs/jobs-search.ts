import type { JobStatus } from '@millrace/contracts';
import { SINCE_HOURS, type JobFilter, type Since } from '../api/jobs';

/** In the order of a job's life. */
export const STATUSES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'canceling',
  'canceled',
  'expired',
] as const satisfies readonly JobStatus[];

/** The labels that the API filters by at once. */
export const MAX_LABELS = 3;

/** The filters as they stand in the address, so that a list can be linked to. */
export interface JobsSearch {
  status?: JobStatus;
  label?: string[];
  deployment?: string;
  since?: Since;
}

const isSince = (text: unknown): text is Since => typeof text === 'string' && Object.hasOwn(SINCE_HOURS, text);

/** Read the filters of an address that anyone may have typed: what is no filter is left out. */
export function readJobsSearch(search: Record<string, unknown>): JobsSearch {
  const status = STATUSES.find((name) => name === search['status']);
  const { deployment, since } = search;
  const labels = [search['label']].flat().filter((label): label is string => typeof label === 'string');
  const label = labels.filter((text) => text.includes('=')).slice(0, MAX_LABELS);
  return {
    ...(status === undefined ? {} : { status }),
    ...(label.length === 0 ? {} : { label }),
    ...(typeof deployment === 'string' && deployment !== '' ? { deployment } : {}),
    ...(isSince(since) ? { since } : {}),
  };
}

/** What the API is asked for. */
export function filterOf({ status, label, deployment, since }: JobsSearch): JobFilter {
  return { status, labels: label, deployment, since };
}
