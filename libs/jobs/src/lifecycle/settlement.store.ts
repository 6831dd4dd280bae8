import { Prisma } from '@prisma/client';
import type { JobEnding } from './job-ending';
import { SETTLEMENT, type Billed } from './settlement';

/**
 * Milliseconds since the attempt `a` was claimed: no attempt can have used more engine time, even if its worker's clock
 * says so.
 */
export const elapsedMs = Prisma.sql`(extract(epoch FROM now() - a.claimed_at) * 1000)::bigint`;

/** Whether a job that ends so is billed at least for what its engine lost earlier: `SETTLEMENT` says why. */
function countsLost(ending: JobEnding['ending']): boolean {
  return ending !== 'succeeded' && SETTLEMENT[ending] !== 'waived';
}

/** Milliseconds that are billed at least of the job `j`, in whichever way its last attempt came out. */
export function leastBilledMs(ending: JobEnding['ending']): Prisma.Sql {
  return countsLost(ending) ? Prisma.sql`j.lost_engine_ms` : Prisma.sql`0`;
}

/**
 * Whether nothing is billed, by `Billed`, of the job `j`: then its outputs are not delivered.
 */
export function isWaived(billed: Billed): Prisma.Sql {
  switch (billed) {
    case 'billable':
      return Prisma.sql`false`;
    case 'waived':
      return Prisma.sql`true`;
    case 'as_last_reported':
      return Prisma.sql`(j.lost_engine_ms = 0 AND (j.delivery <> 'leased' OR j.lease_expires_at < now()))`;
  }
}

/**
 * What `Billed` comes to, in milliseconds: of the leased job `j` and its attempt `a`.
 *
 * @param reportedMs engine time that its worker reports with the end; only `billable` reads it.
 */
export function billedMs(billed: Billed, reportedMs: number): Prisma.Sql {
  switch (billed) {
    case 'billable':
      return Prisma.sql`least(${reportedMs}::bigint, ${elapsedMs})`;
    case 'waived':
      return Prisma.sql`0`;
    case 'as_last_reported':
      return Prisma.sql`CASE WHEN j.lease_expires_at < now() THEN 0 ELSE j.engine_ms END`;
  }
}
