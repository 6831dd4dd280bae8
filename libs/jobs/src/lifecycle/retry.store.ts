import { Prisma } from '@prisma/client';
import { RETRY_CODES, type RetryCode } from '@millrace/contracts';
import { composeStatement, statementPart, type Statements } from '@millrace/database';
import { freeQueuesPart, returnToRotationPart } from '../rotation';
import {
  failureOrNull,
  isPauseOver,
  mayEnd,
  mayRetry,
  progressOrNull,
  timingsOrNull,
  type EndGuard,
  type MovedJob,
} from '../state';
import { attemptWithdrawal, runPart } from './end.store';
import { RECORDED_AS, type JobEnding } from './job-ending';
import { runMove, type MovedColumn } from './moved-job.store';
import { SETTLEMENT } from './settlement';

/**
 * The ends that a policy may have tried again: another engine, worker or moment may end otherwise. The same code can stand for one
 * that it may not: a graph that the engine refused as a whole is an `engine_error` as well.
 */
const RETRIED_ENDINGS: ReadonlySet<JobEnding['ending']> = new Set<JobEnding['ending']>([
  'node_failed',
  'output_not_stored',
  'engine_lost',
  'input_not_staged',
  'attempts_used_up',
  'worker_failed',
]);

/** The code by which a policy names this end; null where none can. */
function retryCodeOf({ ending, failure }: Pick<JobEnding, 'ending' | 'failure'>): RetryCode | null {
  if (!RETRIED_ENDINGS.has(ending)) return null;
  return RETRY_CODES.find((code) => code === failure?.code) ?? null;
}

/**
 * Have a job pause for its next attempt, instead of ending it: where its policy names the failure, has a retry left, and the pause is
 * over before the execution deadline. The guard of the end is that of the retry as well, so only one of them happens, once.
 *
 * The attempt is billed now what it would be if the job ended with it (`SETTLEMENT`), and never again; engine time that was lost
 * before it counts with it. What is not billed is withdrawn, of this attempt alone. The hold stays: heartbeats of the next attempt extend it by all that is billed so far.
 *
 * @returns null where the job is not tried again; the caller ends it.
 */
export async function retryJob(statements: Statements, guard: EndGuard, ending: JobEnding): Promise<MovedJob | null> {
  const code = retryCodeOf(ending);
  if (code === null) return null;
  const run = runPart(Prisma.sql`${mayEnd(guard)} AND ${mayRetry(code)}`, ending);
  const lostMs = SETTLEMENT[ending.ending] === 'waived' ? Prisma.sql`j.lost_engine_ms` : Prisma.sql`0`;
  const job = statementPart<MovedColumn | 'used_ms' | 'billed_ms'>('job')`
    UPDATE jobs j SET delivery = 'paused', retry_at = now() + make_interval(secs => j.retry_pause_seconds), retries = j.retries + 1,
      max_attempts = j.max_attempts + 1, lease_token = NULL, lease_expires_at = NULL, dispatched_at = NULL,
      billable_ms = old.billable_ms, lost_engine_ms = ${lostMs}, updated_at = now(),
      progress = coalesce(${progressOrNull(ending.progress)}::jsonb, j.progress)
    FROM ${run} old WHERE j.id = old.id
    RETURNING j.*, j.status AS from_status, old.used_ms, old.billable_ms - old.billed_before_ms AS billed_ms, ${attemptWithdrawal(ending)} AS withdrawn`;
  const attempt = statementPart('attempt')`
    UPDATE job_attempts a
    SET ended_at = now(), engine_ms = job.used_ms, nodes = ${timingsOrNull(ending.nodes)}::jsonb, outcome = ${RECORDED_AS[ending.ending].outcome},
      error = ${failureOrNull(ending.failure)}::jsonb, billed_ms = job.billed_ms
    FROM ${job} job WHERE a.job_id = job.id AND a.attempt = job.attempt`;
  return runMove(statements, job, [attempt]);
}

/**
 * Have jobs wait for their next attempt whose pause is over, or that are to be canceled. Those that others have locked, or whose queues they have,
 * stay as they are.
 *
 * @returns the pools of those that wait now.
 */
export async function resumePaused(statements: Statements, ids: readonly string[]): Promise<string[]> {
  const due = statementPart<'id' | 'pool_id' | 'account_id'>('due')`
    SELECT j.id, j.pool_id, j.account_id FROM jobs j WHERE j.id = ANY(${ids}::uuid[]) AND ${isPauseOver} FOR NO KEY UPDATE SKIP LOCKED`;
  const job = statementPart<'id' | 'pool_id' | 'account_id'>('job')`
    UPDATE jobs j SET delivery = 'waiting', retry_at = NULL, updated_at = now()
    FROM ${due} due JOIN ${freeQueuesPart(due)} free ON free.pool_id = due.pool_id AND free.account_id = due.account_id
    WHERE j.id = due.id
    RETURNING j.id, j.pool_id, j.account_id`;
  const rows = await statements.rows<{ poolId: string }>(
    composeStatement([returnToRotationPart(job)])`SELECT pool_id FROM ${job}`,
  );
  return rows.map(({ poolId }) => poolId);
}
