import { Prisma } from '@prisma/client';
import { extensionMicros, type MeteredRun } from '@millrace/billing';
import { composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import { BEATS_PER_LEASE } from '../job.settings';
import { takeLateTurnPart } from '../rotation';
import { deliveryOfOne, isForAnother, type ClaimedAttempt, type Fence } from '../state';

/** An attempt that a worker wants, and the lease that it wants it with. */
export interface Claim extends Fence {
  workerId: string;
  /** The worker's pool: it takes nothing of another. Absent: of any. */
  poolId?: string | undefined;
  leaseSeconds: number;
  /** What the job needs, as far as its message says so. */
  models?: readonly string[] | undefined;
  /** The attempt was set aside: its account takes a turn again. */
  isSetAside?: boolean;
}

/** A claim whose answer did not arrive: the worker asks for it by the token that it chose. */
export type RepeatedClaim = Required<Pick<Claim, 'leaseToken' | 'workerId' | 'leaseSeconds'>> & { poolId: string };

/** The attempt, and the number of its job's latest move. */
export interface Claimed extends ClaimedAttempt {
  seq: number;
}

const claimedColumns = Prisma.sql`
  job.id AS job_id, job.attempt, job.lease_token, job.account_id, job.pool_id, job.status, g.workflow, job.deadline_at, job.has_secrets,
  coalesce(job.models, '{}') AS models, job.progress, job.traceparent, job.surface = 'deployment' AS keeps_logs, job.seq,
  job.held_micros, job.price_micros_per_second, job.billable_ms AS used_ms`;

/** The job `j` needs no models, so that any worker has room for it. */
const fitsAnywhere = Prisma.sql`cardinality(coalesce(j.models, '{}')) = 0`;

/**
 * Take a dispatched attempt. The status becomes `running` with the first one and stays so with later ones.
 *
 * The first attempt of a job without models is for any worker. It has a statement of its own, because PostgreSQL takes a millisecond to plan the one
 * that compares the workers of a pool, twice as long, and several times on each connection.
 *
 * @returns null when it cannot be taken any more, or is for another worker, which has room for its models.
 */
export async function claimAttempt(statements: Statements, claim: Claim): Promise<Claimed | null> {
  const { attempt, models = [], workerId } = claim;
  const taken = attempt === 1 && models.length === 0 ? await takeAttempt(statements, claim, fitsAnywhere) : null;
  return taken ?? takeAttempt(statements, claim, Prisma.sql`NOT ${isForAnother(workerId)}`);
}

async function takeAttempt(
  statements: Statements,
  { jobId, attempt, leaseToken, workerId, poolId, leaseSeconds, isSetAside = false }: Claim,
  isForWorker: Prisma.Sql,
): Promise<Claimed | null> {
  const job = statementPart<'pool_id' | 'account_id'>('job')`
    UPDATE jobs j
    SET status = 'running', delivery = 'leased', attempt = ${attempt}, worker_id = ${workerId}::uuid,
        lease_token = ${leaseToken}::uuid, lease_expires_at = now() + make_interval(secs => ${leaseSeconds}),
        started_at = coalesce(j.started_at, now()), dispatched_at = coalesce(j.dispatched_at, now()), engine_ms = 0, updated_at = now(),
        seq = j.seq + CASE WHEN j.status = 'queued' THEN 1 ELSE 0 END
    FROM (SELECT id, status FROM jobs WHERE id = ${jobId}::uuid FOR UPDATE) old
    WHERE j.id = old.id AND j.id = ${jobId}::uuid AND j.attempt = ${attempt} - 1 AND ${deliveryOfOne} = 'dispatched'
      AND j.status IN ('queued', 'running') AND j.deadline_at > now()
      AND (${poolId ?? null}::text IS NULL OR j.pool_id = ${poolId ?? null})
      AND ${isForWorker}
    RETURNING j.*, old.status AS from_status`;
  const transition = statementPart('transition')`
    INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause, worker_id)
    SELECT id, seq, from_status, status, attempt, 'claimed', worker_id FROM ${job} WHERE from_status = 'queued'`;
  const begun = statementPart('attempt')`
    INSERT INTO job_attempts (job_id, attempt, worker_id) SELECT id, attempt, worker_id FROM ${job}`;
  const late = isSetAside ? [takeLateTurnPart(job)] : [];
  return readClaimed(statements, [transition, begun, ...late], job, leaseSeconds);
}

/** Until the transaction ends, no other does anything for this claim of the worker. */
export async function lockClaim(tx: Statements, workerId: string, claimId: string): Promise<void> {
  await tx.query(Prisma.sql`
    SELECT pg_advisory_xact_lock(hashtextextended(${`claim ${workerId} ${claimId}`}, 0))::text AS locked`);
}

/**
 * The attempt that a claim took whose answer did not arrive. Its lease begins again.
 *
 * @returns null where the claim took none, or its lease has run out.
 */
export async function repeatClaim(
  statements: Statements,
  { leaseToken, workerId, poolId, leaseSeconds }: RepeatedClaim,
): Promise<Claimed | null> {
  const job = statementPart('job')`
    UPDATE jobs j SET lease_expires_at = now() + make_interval(secs => ${leaseSeconds}), updated_at = now()
    WHERE j.pool_id = ${poolId} AND j.delivery = 'leased' AND j.lease_expires_at > now()
      AND j.worker_id = ${workerId}::uuid AND j.lease_token = ${leaseToken}::uuid
    RETURNING j.*`;
  return readClaimed(statements, [], job, leaseSeconds);
}

/** Everything that a worker needs of the job which a statement leases to it. */
async function readClaimed(
  statements: Statements,
  parts: StatementPart[],
  job: StatementPart,
  leaseSeconds: number,
): Promise<Claimed | null> {
  const [claimed] = await statements.rows<Omit<Claimed, 'isHoldShort'> & MeteredRun>(composeStatement(parts)`
    SELECT ${claimedColumns} FROM ${job} job JOIN job_graphs g ON g.job_id = job.id`);
  if (claimed === undefined) return null;
  const { heldMicros, priceMicrosPerSecond, usedMs, ...taken } = claimed;
  const untilHeartbeat = { leadMs: Math.ceil((leaseSeconds * 1_000) / BEATS_PER_LEASE), stepMs: 0 };
  return {
    ...taken,
    isHoldShort: extensionMicros({ heldMicros, priceMicrosPerSecond, usedMs }, untilHeartbeat) > 0n,
  };
}
