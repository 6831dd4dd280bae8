import { queryOptions } from '@tanstack/react-query';
import { admin } from './admin';
import { POLL_MS } from './poll';

/** The queue of a pool. */
export interface Queue {
  pool: string;
  waiting: number;
  dispatched: number;
  running: number;
  /** How long the first in line has waited; 0 when none waits. */
  oldest_seconds: number;
  /** Its deployment is stopped. */
  stopped: boolean;
}

export interface Finding {
  audit: string;
  check: string;
  subject: string;
  detail: string;
}

/** What a run of the audits found. */
export interface Audit {
  ok: boolean;
  audits: string[];
  findings: Finding[];
  truncated: boolean;
  /** Those that found more than is shown, and ended there. */
  truncated_audits: string[];
}

/** The last run of the audits by an operator, as the audit log has it. */
export interface AuditRun {
  at: string;
  details: {
    ok: boolean;
    audits: string[];
    findings: number;
    truncated: boolean;
    truncated_audits?: string[];
    first: Finding[];
  };
}

export const queuesQuery = queryOptions({
  queryKey: ['queues'],
  queryFn: async ({ signal }) => (await admin<{ queues: Queue[] }>('/queues', { signal })).queues,
  refetchInterval: POLL_MS,
});

/** Null where none was run for as long as the audit log is kept. */
export const lastAuditQuery = queryOptions({
  queryKey: ['last-audit'],
  queryFn: async ({ signal }) => {
    const { entries } = await admin<{ entries: AuditRun[] }>('/audit-log?subject_id=invariants&limit=1', { signal });
    return entries[0] ?? null;
  },
  refetchInterval: POLL_MS,
});

/** Check the invariants now. It takes as long as there is to check. @throws ApiError */
export function runAudit(): Promise<Audit> {
  return admin<Audit>('/audit');
}
