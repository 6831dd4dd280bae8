import { extensionMicros, type MeteredRun } from '@millrace/billing';
import { composeStatement, statementPart, type Statements } from '@millrace/database';
import { BEATS_PER_LEASE } from '../job.settings';
import { deliveryOfOne, type ClaimedAttempt, type Fence } from '../state';

/** An attempt that a worker wants, and the lease that it wants it with. */
export interface Claim extends Fence {
  workerId: string;
  /** The worker's pool: it takes nothing of another. Absent: of any. */
  poolId?: string | undefined;
  leaseSeconds: number;
}

/** The attempt, and for the first one how long its job has waited. */
export interface Claimed extends ClaimedAttempt {
  seq: number;
  /** From the submission to the first claim, in milliseconds. */
  waitedMs: number;
}

/**
 * Take a dispatched attempt. The status becomes `running` with the first one and stays so with later ones.
 *
 * @returns null when it cannot be taken any more.
 */
export async function claimAttempt(
  statements: Statements,
  { jobId, attempt, leaseToken, workerId, poolId, leaseSeconds }: Claim,
): Promise<Claimed | null> {
  const job = statementPart('job')`
    UPDATE jobs j
    SET status = 'running', delivery = 'leased', attempt = ${attempt}, worker_id = ${workerId}::uuid,
        lease_token = ${leaseToken}::uuid, lease_expires_at = now() + make_interval(secs => ${leaseSeconds}),
        started_at = coalesce(j.started_at, now()), engine_ms = 0, updated_at = now(),
        seq = j.seq + CASE WHEN j.status = 'queued' THEN 1 ELSE 0 END
    FROM (SELECT id, status FROM jobs WHERE id = ${jobId}::uuid FOR UPDATE) old
    WHERE j.id = old.id AND j.attempt = ${attempt} - 1 AND ${deliveryOfOne} = 'dispatched'
      AND j.status IN ('queued', 'running') AND j.deadline_at > now()
      AND (${poolId ?? null}::text IS NULL OR j.pool_id = ${poolId ?? null})
    RETURNING j.*, old.status AS from_status`;
  const transition = statementPart('transition')`
    INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause, worker_id)
    SELECT id, seq, from_status, status, attempt, 'claimed', worker_id FROM ${job} WHERE from_status = 'queued'`;
  const begun = statementPart('attempt')`
    INSERT INTO job_attempts (job_id, attempt, worker_id) SELECT id, attempt, worker_id FROM ${job}`;
  const [claimed] = await statements.rows<Omit<Claimed, 'isHoldShort'> & MeteredRun>(composeStatement([
    transition,
    begun,
  ])`
    SELECT job.id AS job_id, job.attempt, job.lease_token, job.account_id, job.pool_id, job.status, g.workflow,
           job.deadline_at, job.has_secrets, coalesce(job.models, '{}') AS models, job.progress, job.traceparent,
           job.surface = 'deployment' AS keeps_logs, job.seq,
           (extract(epoch FROM job.started_at - job.created_at) * 1000)::float8 AS waited_ms,
           job.held_micros, job.price_micros_per_second, job.billable_ms AS used_ms
    FROM ${job} job JOIN job_graphs g ON g.job_id = job.id`);
  if (claimed === undefined) return null;
  const { heldMicros, priceMicrosPerSecond, usedMs, ...taken } = claimed;
  const untilHeartbeat = { leadMs: Math.ceil((leaseSeconds * 1_000) / BEATS_PER_LEASE), stepMs: 0 };
  return {
    ...taken,
    isHoldShort: extensionMicros({ heldMicros, priceMicrosPerSecond, usedMs }, untilHeartbeat) > 0n,
  };
}
