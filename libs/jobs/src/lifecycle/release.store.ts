import { Prisma } from '@prisma/client';
import type { AttemptOutcome } from '@millrace/contracts';
import { composeStatement, statementPart, type Statements } from '@millrace/database';
import { isStoppedPool } from '@millrace/deployments';
import { freeQueuesPart, returnToRotationPart } from '../rotation';
import {
  failureOrNull,
  mayRelease,
  type Fence,
  type JobFailure,
  type MovedJob,
  type ReleaseGuard,
  type RoomLack,
} from '../state';
import { runMove, type MovedColumn } from './moved-job.store';
import { SETTLEMENT, type Release } from './settlement';
import { billedMs, elapsedMs } from './settlement.store';

/** How an attempt ends whose job goes on: it waits for its next. */
interface ReleaseTerms {
  kind: Release;
  outcome: AttemptOutcome;
  /** 1 where the attempt does not count against the attempts of the job. */
  attemptsAdded: 0 | 1;
  /** Engine time that the engine lost with it, in milliseconds; absent: none that counts. */
  lostEngineMs?: number;
  /** Why it ended, for the owner of the job; absent where the outcome says it. */
  reason?: JobFailure;
}

/** Give an attempt back, so that another worker takes the next. Does not count against the attempts. */
export async function handBackAttempt(statements: Statements, fence: Fence): Promise<MovedJob | null> {
  const terms: ReleaseTerms = { kind: 'handed_back', outcome: 'handed_back', attemptsAdded: 1 };
  return release(statements, { kind: 'fence', fence }, terms);
}

/**
 * Give an attempt back whose worker has no room for its models, for another worker that has. Does not count against the attempts.
 *
 * @returns null where no other worker of the pool has.
 */
export async function handBackForRoom(statements: Statements, fence: Fence, lack: RoomLack): Promise<MovedJob | null> {
  const { neededBytes } = lack;
  const terms: ReleaseTerms = { kind: 'handed_back', outcome: 'handed_back', attemptsAdded: 1, reason: reasonOf(lack) };
  return release(statements, { kind: 'fence_with_room_elsewhere', fence, neededBytes }, terms);
}

/**
 * Give up an attempt whose worker has no room for its models, where no other is known to have: the lack passes, or another worker does not
 * say what it can hold. Counts against the attempts, since nothing else bounds it.
 *
 * @returns null where another attempt would fare no better, or none is left.
 */
export async function giveUpForRoom(statements: Statements, fence: Fence, lack: RoomLack): Promise<MovedJob | null> {
  const kind = lack.isPassing ? 'fence_with_attempts_left' : 'fence_with_room_unknown';
  const terms: ReleaseTerms = { kind: 'given_up', outcome: 'lost', attemptsAdded: 0, reason: reasonOf(lack) };
  return release(statements, { kind, fence }, terms);
}

function reasonOf({ message, nodeId }: RoomLack): JobFailure {
  return { code: 'input_unavailable', message, node_id: nodeId };
}

/**
 * Give up an attempt that was lost.
 *
 * @param lostEngineMs engine time of an attempt that the engine lost, in milliseconds; 0: the worker lost it.
 * @returns null where the job has no attempts left.
 */
export async function giveUpAttempt(
  statements: Statements,
  fence: Fence,
  lostEngineMs: number,
): Promise<MovedJob | null> {
  const terms: ReleaseTerms = { kind: 'given_up', outcome: 'lost', attemptsAdded: 0, lostEngineMs };
  return release(statements, { kind: 'fence_with_attempts_left', fence }, terms);
}

/** Take a lost attempt from its worker, whose lease must have run out. @returns null where the job has no attempts left. */
export async function takeBackAttempt(statements: Statements, jobId: string): Promise<MovedJob | null> {
  const terms: ReleaseTerms = { kind: 'taken_back', outcome: 'lost', attemptsAdded: 0 };
  return release(statements, { kind: 'lost_with_attempts_left', jobId }, terms);
}

async function release(
  statements: Statements,
  guard: ReleaseGuard,
  { kind, outcome, attemptsAdded, lostEngineMs = 0, reason }: ReleaseTerms,
): Promise<MovedJob | null> {
  const job = statementPart<MovedColumn>('job')`
    UPDATE jobs j SET delivery = 'waiting', lease_token = NULL, lease_expires_at = NULL, dispatched_at = NULL,
      max_attempts = j.max_attempts + ${attemptsAdded}, billable_ms = j.billable_ms + ${billedMs(SETTLEMENT[kind], 0)},
      lost_engine_ms = greatest(j.lost_engine_ms, (
        SELECT least(${lostEngineMs}::bigint, ${elapsedMs}) FROM job_attempts a WHERE a.job_id = j.id AND a.attempt = j.attempt)),
      updated_at = now()
    WHERE ${mayRelease(guard)}
    RETURNING j.*, j.status AS from_status`;
  const attempt = statementPart('attempt')`
    UPDATE job_attempts a SET ended_at = now(), outcome = ${outcome}, error = ${failureOrNull(reason ?? null)}::jsonb,
      engine_ms = CASE WHEN ${lostEngineMs} > 0 THEN least(${lostEngineMs}::bigint, ${elapsedMs}) END
    FROM ${job} job WHERE a.job_id = job.id AND a.attempt = job.attempt`;
  return runMove(statements, job, [attempt, returnToRotationPart(job)]);
}

/**
 * Take back from the lanes of stopped deployments what no worker has claimed. Jobs that others have locked, or whose queues they have, stay there.
 *
 * @param ids of the jobs; absent: all of them.
 * @returns how many jobs wait again.
 */
export async function recallFromStopped(statements: Statements, ids?: readonly string[]): Promise<number> {
  const isMeant = ids === undefined ? Prisma.sql`true` : Prisma.sql`j.id = ANY(${ids}::uuid[])`;
  const stopped = statementPart<'id' | 'pool_id' | 'account_id'>('stopped')`
    SELECT j.id, j.pool_id, j.account_id FROM jobs j
    WHERE j.delivery = 'dispatched' AND ${isStoppedPool(Prisma.sql`j.pool_id`)} AND ${isMeant} FOR NO KEY UPDATE OF j SKIP LOCKED`;
  const job = statementPart<'id' | 'pool_id' | 'account_id'>('job')`
    UPDATE jobs j SET delivery = 'waiting', dispatched_at = NULL, updated_at = now()
    FROM ${stopped} stopped JOIN ${freeQueuesPart(stopped)} free ON free.pool_id = stopped.pool_id AND free.account_id = stopped.account_id
    WHERE j.id = stopped.id
    RETURNING j.id, j.pool_id, j.account_id`;
  const rows = await statements.rows(composeStatement([returnToRotationPart(job)])`SELECT id FROM ${job}`);
  return rows.length;
}
