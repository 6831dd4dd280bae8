import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { BEATS_PER_LEASE } from '../job.settings';
import { deliveryOfOne } from '../state';

/** An attempt whose worker has missed a heartbeat, while its lease lasts. */
export interface LateLease {
  jobId: string;
  leaseToken: string;
  workerId: string;
}

/** Heartbeats after which a lease that was not renewed is late: one was missed, and half the time to the next is over. */
const LATE_AFTER_BEATS = 1.5;
/** The most that are looked at in one round. */
const MAX_LISTED = 1_000;

function isLate(leaseSeconds: number): Prisma.Sql {
  const leftSeconds = leaseSeconds * (1 - LATE_AFTER_BEATS / BEATS_PER_LEASE);
  return Prisma.sql`j.lease_expires_at >= now() AND j.lease_expires_at < now() + make_interval(secs => ${leftSeconds})`;
}

/** Leases that are late. Costs a walk over the jobs that run, as `listLostJobs` does. */
export async function listLateLeases(statements: Statements, leaseSeconds: number): Promise<LateLease[]> {
  return statements.rows(Prisma.sql`
    SELECT j.id AS job_id, j.lease_token, j.worker_id FROM jobs j
    WHERE j.delivery = 'leased' AND j.worker_id IS NOT NULL AND ${isLate(leaseSeconds)} LIMIT ${MAX_LISTED}`);
}

/**
 * Let leases run out now. One that was renewed meanwhile, or that another worker has, stays.
 *
 * @returns how many ran out.
 */
export async function endLateLeases(
  statements: Statements,
  leaseSeconds: number,
  leases: readonly Pick<LateLease, 'jobId' | 'leaseToken'>[],
): Promise<number> {
  return statements.execute(Prisma.sql`
    UPDATE jobs j SET lease_expires_at = now()
    FROM unnest(${leases.map(({ jobId }) => jobId)}::uuid[], ${leases.map(({ leaseToken }) => leaseToken)}::uuid[]) AS late (id, token)
    WHERE j.id = late.id AND ${deliveryOfOne} = 'leased' AND j.lease_token = late.token AND ${isLate(leaseSeconds)}`);
}
