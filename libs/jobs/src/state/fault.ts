import type { JobErrorCode, JobStatus } from '@millrace/contracts';

/** Whose doing it is that a job did not succeed. `none`: it succeeded, or was canceled. */
export type Fault = 'none' | 'service' | 'caller';

/** Whose doing each error of a job is, as docs/slo.md says. One that may be either's counts as the service's. */
const FAULT_OF = {
  node_execution_error: 'caller',
  worker_lost: 'service',
  engine_error: 'service',
  input_unavailable: 'service',
  output_storage_error: 'service',
  execution_timeout: 'caller',
  credential_unavailable: 'service',
  credits_exhausted: 'caller',
} as const satisfies Record<JobErrorCode, Fault>;

/**
 * Whether the end of a job counts against the service's objective of success. A job that expired does: the service had until its
 * execution deadline.
 *
 * @param code the code of the job's error; null where it has none.
 */
export function faultOf(status: JobStatus, code: string | null): Fault {
  if (status === 'expired') return 'service';
  if (status !== 'failed') return 'none';
  // A code that is not known here, of a row that another version wrote, counts against the service.
  return FAULT_OF[code as JobErrorCode] ?? 'service';
}
