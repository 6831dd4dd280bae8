import { Prisma } from '@prisma/client';
import type { JobStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { isLongOvertime, leaseIsOver } from '../state';

/** A job without a worker to move it. */
export interface LostJob {
  id: string;
  status: JobStatus;
  /** True when its attempts are used up. */
  last: boolean;
}

/** Jobs whose lease has run out, oldest first, and those to be canceled between two attempts. Two small indexes. */
export async function listLostJobs(statements: Statements, limit: number): Promise<LostJob[]> {
  return statements.rows(Prisma.sql`
    (SELECT j.id, j.status, j.attempt >= j.max_attempts AS last FROM jobs j
     WHERE ${leaseIsOver} ORDER BY j.lease_expires_at LIMIT ${limit})
    UNION ALL
    (SELECT j.id, j.status, j.attempt >= j.max_attempts AS last FROM jobs j
     WHERE j.delivery IN ('waiting', 'dispatched') AND j.status = 'canceling' LIMIT ${limit})`);
}

/** Ids of jobs past their execution deadline, oldest first. */
export async function listOverdueJobs(statements: Statements, limit: number): Promise<string[]> {
  const rows = await statements.rows<{ id: string }>(Prisma.sql`
    SELECT id FROM jobs WHERE delivery <> 'done' AND deadline_at <= now() ORDER BY deadline_at LIMIT ${limit}`);
  return rows.map((row) => row.id);
}

/** Ids of jobs whose attempt is far beyond its time limit. Costs a walk over the jobs that run. */
export async function listOvertimeJobs(statements: Statements, limitSeconds: number, limit: number): Promise<string[]> {
  const rows = await statements.rows<{ id: string }>(Prisma.sql`
    SELECT j.id FROM jobs j WHERE j.delivery = 'leased' AND ${isLongOvertime(limitSeconds)} LIMIT ${limit}`);
  return rows.map((row) => row.id);
}

/** Delete ended jobs past their retention, of every account; what belongs to them goes too. @returns how many. */
export async function deleteExpiredJobs(statements: Statements, limit: number): Promise<number> {
  return statements.execute(Prisma.sql`
    DELETE FROM jobs WHERE id IN (
      SELECT id FROM jobs WHERE delivery = 'done' AND expires_at <= now()
      ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
}
