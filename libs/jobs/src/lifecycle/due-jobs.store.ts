import { Prisma } from '@prisma/client';
import type { JobStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { isStoppedPool } from '@millrace/deployments';
import { WorkingPoolsStore, isLongOvertime, isPauseOver, leaseIsOver } from '../state';

/** A job that is due, and its turn among those that are: what a sweep goes on from. */
export interface DueJob {
  id: string;
  turn: string;
}

/** A job whose worker is lost. */
export interface LostJob extends DueJob {
  status: JobStatus;
  /** True when its attempts are used up. */
  last: boolean;
}

const working = new WorkingPoolsStore();

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** The turns of jobs in the order of a time, and of their ids where that is the same. */
function turnsBy(time: Prisma.Sql, after: string | null): { isAfter: Prisma.Sql; turn: Prisma.Sql; order: Prisma.Sql } {
  const [since = '-infinity', id = BEFORE_ALL] = after?.split(' ') ?? [];
  return {
    isAfter: Prisma.sql`(${time}, j.id) > (${since}::timestamptz, ${id}::uuid)`,
    turn: Prisma.sql`concat_ws(' ', replace(${time}::text, ' ', 'T'), j.id) AS turn`,
    order: Prisma.sql`${time}, j.id`,
  };
}

/**
 * Jobs whose lease has run out, oldest first. Costs a walk over the jobs that run, which is sorted after it (see `listOvertimeJobs`): with
 * an index by the time at which leases run out, each renewal of each running job would write all indexes of its row.
 */
export async function listLostJobs(statements: Statements, after: string | null, limit: number): Promise<LostJob[]> {
  const { isAfter, turn, order } = turnsBy(Prisma.sql`j.lease_expires_at`, after);
  return statements.rows(Prisma.sql`
    WITH lost AS MATERIALIZED (
      SELECT j.id, j.status, j.attempt >= j.max_attempts AS last, j.lease_expires_at FROM jobs j WHERE ${leaseIsOver})
    SELECT j.id, j.status, j.last, ${turn} FROM lost j WHERE ${isAfter} ORDER BY ${order} LIMIT ${limit}`);
}

/** Jobs whose pause before a retry is over, the longest over first. */
export async function listPausedJobs(statements: Statements, after: string | null, limit: number): Promise<DueJob[]> {
  const { isAfter, turn, order } = turnsBy(Prisma.sql`j.retry_at`, after);
  return statements.rows(Prisma.sql`
    SELECT j.id, ${turn} FROM jobs j WHERE ${isPauseOver} AND ${isAfter} ORDER BY ${order} LIMIT ${limit}`);
}

/** Jobs that are to be canceled between two attempts. */
export async function listCanceledJobs(statements: Statements, after: string | null, limit: number): Promise<DueJob[]> {
  return statements.rows(Prisma.sql`
    SELECT j.id, j.id AS turn FROM jobs j
    WHERE j.delivery IN ('waiting', 'dispatched') AND j.status = 'canceling' AND j.id > ${after ?? BEFORE_ALL}::uuid
    ORDER BY j.id LIMIT ${limit}`);
}

/** Jobs past their execution deadline, oldest first. */
export async function listOverdueJobs(statements: Statements, after: string | null, limit: number): Promise<DueJob[]> {
  const { isAfter, turn, order } = turnsBy(Prisma.sql`j.deadline_at`, after);
  return statements.rows(Prisma.sql`
    SELECT j.id, ${turn} FROM jobs j
    WHERE j.delivery <> 'done' AND j.deadline_at <= now() AND ${isAfter} ORDER BY ${order} LIMIT ${limit}`);
}

/**
 * Jobs whose attempt is far beyond its time limit. Costs a walk over the jobs that run; sorted after it, or the planner may
 * walk over all jobs in the order of their ids.
 */
export async function listOvertimeJobs(
  statements: Statements,
  limitSeconds: number,
  after: string | null,
  limit: number,
): Promise<DueJob[]> {
  return statements.rows(Prisma.sql`
    WITH overtime AS MATERIALIZED (
      SELECT j.id FROM jobs j WHERE j.delivery = 'leased' AND ${isLongOvertime(limitSeconds)})
    SELECT id, id AS turn FROM overtime WHERE id > ${after ?? BEFORE_ALL}::uuid ORDER BY id LIMIT ${limit}`);
}

/** Ended jobs past their retention, of every account, the longest past first. */
export async function listExpiredJobs(statements: Statements, after: string | null, limit: number): Promise<DueJob[]> {
  const { isAfter, turn, order } = turnsBy(Prisma.sql`j.expires_at`, after);
  return statements.rows(Prisma.sql`
    SELECT j.id, ${turn} FROM jobs j
    WHERE j.delivery = 'done' AND j.expires_at <= now() AND ${isAfter} ORDER BY ${order} LIMIT ${limit}`);
}

/** Delete those of the jobs that have ended and are past their retention; what belongs to them goes too. @returns how many. */
export async function deleteExpiredJobs(statements: Statements, ids: readonly string[]): Promise<number> {
  return statements.execute(Prisma.sql`
    DELETE FROM jobs WHERE id IN (
      SELECT id FROM jobs WHERE id = ANY(${ids}::uuid[]) AND delivery = 'done' AND expires_at <= now() FOR UPDATE SKIP LOCKED)`);
}

/** Jobs of stopped deployments that wait in a lane. Costs a look for each pool with jobs in flight, and a walk over those of the stopped. */
export async function listStoppedJobs(statements: Statements, after: string | null, limit: number): Promise<DueJob[]> {
  return statements.rows(Prisma.sql`
    WITH stopped AS MATERIALIZED (
      SELECT j.id FROM (${working.inFlightSql}) p JOIN jobs j ON j.pool_id = p.pool_id
      WHERE ${isStoppedPool(Prisma.sql`p.pool_id`)} AND j.delivery = 'dispatched')
    SELECT id, id AS turn FROM stopped WHERE id > ${after ?? BEFORE_ALL}::uuid ORDER BY id LIMIT ${limit}`);
}
