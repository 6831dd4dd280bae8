import { Prisma } from '@prisma/client';
import type { JobMetadata, RetryCode } from '@millrace/contracts';
import type { Fence, JobScope } from './job';
import { hasRoomElsewhere, mayHaveRoomElsewhere } from './model-room.store';

/*
 * What must hold of a job for a statement to find or move it: conditions on the row `j` of `jobs`. Where one does not hold the
 * statement has no row and changes nothing.
 */

/**
 * The job is on the surface that it was made on, has the labels of the sub-key that asks, and has not expired. For a job that is found by its id:
 * no index answers for the account as it is asked for here, because to a planner that knows of no jobs an index of accounts costs no
 * more than the primary key, and the plan is kept while the jobs come.
 */
export function isInScope({ accountId, surface, deploymentId, labels }: JobScope): Prisma.Sql {
  const isIn = isAt(Prisma.sql`${accountId}::uuid`, Prisma.sql`${surface}`, Prisma.sql`${deploymentId}::uuid`);
  return labels === null ? isIn : Prisma.sql`${isIn} AND ${hasLabels(labels)}`;
}

/** The same of the scope that a row `asked` names. */
export const isInScopeAsked = Prisma.sql`
  ${isAt(Prisma.sql`asked.account_id`, Prisma.sql`asked.surface`, Prisma.sql`asked.deployment_id`)}
  AND (asked.labels IS NULL OR j.metadata @> asked.labels::jsonb)`;

/** For lists, too: the second half follows from the first, but it is the predicate of `jobs_metadata_idx`, which leaves jobs without labels out. */
export function hasLabels(labels: JobMetadata): Prisma.Sql {
  return Prisma.sql`j.metadata @> ${JSON.stringify(labels)}::jsonb AND j.metadata <> '{}'::jsonb`;
}

/**
 * Of a job `j` that was answered with earlier outputs: the job that ran, as the scope may know it. A sub-key is shown no id of a job
 * that it does not find.
 */
export function sourceShown(labels: JobMetadata | null): Prisma.Sql {
  return labels === null ? Prisma.sql`j.reused_from` : sourceWith(Prisma.sql`${JSON.stringify(labels)}`);
}

/** The same for the scope that a row `asked` names. */
export const sourceShownAsked = Prisma.sql`CASE WHEN asked.labels IS NULL THEN j.reused_from ELSE ${sourceWith(Prisma.sql`asked.labels`)} END`;

function sourceWith(labels: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(
    SELECT s.id FROM jobs s
    WHERE s.id = j.reused_from AND s.account_id IS NOT DISTINCT FROM j.account_id AND s.metadata @> ${labels}::jsonb AND s.expires_at > now())`;
}

function isAt(accountId: Prisma.Sql, surface: Prisma.Sql, deploymentId: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`j.account_id IS NOT DISTINCT FROM ${accountId} AND j.surface = ${surface}
    AND j.deployment_id IS NOT DISTINCT FROM ${deploymentId} AND j.expires_at > now()`;
}

/**
 * The delivery of a job that is found by its id: an expression, so that no partial index can answer for it. By the planner's
 * statistics the indexes of jobs in flight are nearly empty and cheaper than the primary key; under a transaction that stays
 * open they keep every job that has been in flight since, and each heartbeat would read them all.
 */
export const deliveryOfOne = Prisma.sql`(j.delivery || '')`;

/** The caller holds the lease: it names the job, the attempt and the token of the last claim. */
export function holdsFence({ jobId, attempt, leaseToken }: Fence): Prisma.Sql {
  return Prisma.sql`
    j.id = ${jobId}::uuid AND j.attempt = ${attempt} AND j.lease_token = ${leaseToken}::uuid
    AND ${deliveryOfOne} = 'leased'`;
}

/** The lease has run out. No index has when: a list walks over the jobs in flight. */
export const leaseIsOver = Prisma.sql`j.delivery = 'leased' AND j.lease_expires_at < now()`;

const leaseOfOneIsOver = (jobId: string): Prisma.Sql =>
  Prisma.sql`j.id = ${jobId}::uuid AND ${deliveryOfOne} = 'leased' AND j.lease_expires_at < now()`;

/** Beyond its time limit an attempt may take this long to be stopped by its worker: an interrupt, then another engine. */
const OVERTIME_GRACE_SECONDS = 120;

/** The attempt `a` of the job, in the pool `p`, has reached its time limit. */
export function isOvertime(limitSeconds: number, graceSeconds = 0): Prisma.Sql {
  return Prisma.sql`
    a.claimed_at + make_interval(secs => coalesce(p.attempt_limit_seconds, ${limitSeconds}) + ${graceSeconds}) <= now()`;
}

/** A worker has the job, and its attempt is far beyond its time limit. */
export function isLongOvertime(limitSeconds: number): Prisma.Sql {
  return Prisma.sql`${deliveryOfOne} = 'leased' AND EXISTS (
    SELECT FROM job_attempts a JOIN pools p ON p.id = j.pool_id
    WHERE a.job_id = j.id AND a.attempt = j.attempt AND ${isOvertime(limitSeconds, OVERTIME_GRACE_SECONDS)})`;
}

/** The job gets another attempt when it loses the present one. */
const hasAttemptsLeft = Prisma.sql`j.status = 'running' AND j.attempt < j.max_attempts`;

/** Who may end a job. */
export type EndGuard =
  /** The worker that holds the lease. */
  | { kind: 'fence'; fence: Fence }
  /** The worker that holds the lease, once the job is to be canceled. */
  | { kind: 'canceling_fence'; fence: Fence }
  /** Its owner, before it has started. */
  | { kind: 'queued'; scope: JobScope; jobId: string }
  /** Anyone, once it is to be canceled and no worker has it. */
  | { kind: 'canceling_unleased'; jobId: string }
  /** Anyone, when its worker is lost and it gets no other attempt. */
  | { kind: 'lost_for_good'; jobId: string }
  /** Anyone, when its attempt is far beyond its time limit. */
  | { kind: 'overtime'; jobId: string; limitSeconds: number }
  /** Anyone, when its execution deadline has passed. */
  | { kind: 'overdue'; jobId: string };

/**
 * The statement sees the attempt that the job `j` has. One that was claimed while it waited for the job is not in its snapshot, so that it would
 * end the job and leave the attempt open; the next statement sees it.
 */
const seesItsAttempt = Prisma.sql`(${deliveryOfOne} <> 'leased' OR EXISTS (
  SELECT FROM job_attempts seen WHERE seen.job_id = j.id AND seen.attempt = j.attempt))`;

/** The condition that lets a caller end a job which has not ended. */
export function mayEnd(guard: EndGuard): Prisma.Sql {
  return Prisma.sql`${endCondition(guard)} AND ${deliveryOfOne} <> 'done'`;
}

function endCondition(guard: EndGuard): Prisma.Sql {
  switch (guard.kind) {
    case 'fence':
      return holdsFence(guard.fence);
    case 'canceling_fence':
      return Prisma.sql`${holdsFence(guard.fence)} AND j.status = 'canceling'`;
    case 'queued':
      return Prisma.sql`j.id = ${guard.jobId}::uuid AND ${isInScope(guard.scope)} AND j.status = 'queued'`;
    case 'canceling_unleased':
      return Prisma.sql`j.id = ${guard.jobId}::uuid AND j.status = 'canceling' AND j.delivery <> 'leased'`;
    case 'lost_for_good':
      return Prisma.sql`${leaseOfOneIsOver(guard.jobId)} AND (j.status = 'canceling' OR j.attempt >= j.max_attempts)`;
    case 'overtime':
      return Prisma.sql`j.id = ${guard.jobId}::uuid AND ${isLongOvertime(guard.limitSeconds)}`;
    case 'overdue':
      return Prisma.sql`j.id = ${guard.jobId}::uuid AND ${seesItsAttempt} AND j.deadline_at <= now()`;
  }
}

/** Its policy has a failure of this code tried again, and there is time for it. */
export function mayRetry(code: RetryCode): Prisma.Sql {
  return Prisma.sql`j.status = 'running' AND j.retries < j.retry_max AND ${code} = ANY(j.retry_codes)
    AND now() + make_interval(secs => j.retry_pause_seconds) < j.deadline_at`;
}

/** The pause before a retry is over. For lists: `jobs_paused_idx` has the pauses in the order in which they are over. */
export const isPauseOver = Prisma.sql`j.delivery = 'paused' AND j.retry_at <= now()`;

/** Who may have a job wait for its next attempt. */
export type ReleaseGuard =
  /** The worker that holds the lease, which hands the attempt back unharmed. */
  | { kind: 'fence'; fence: Fence }
  /** The worker that holds the lease and has no room for the models, while another worker has room for so many bytes. */
  | { kind: 'fence_with_room_elsewhere'; fence: Fence; neededBytes: number }
  /** The worker that holds the lease and lost its engine, while the job has attempts left. */
  | { kind: 'fence_with_attempts_left'; fence: Fence }
  /** The same, where another worker may have room for the models though it does not say so. */
  | { kind: 'fence_with_room_unknown'; fence: Fence }
  /** Anyone, when its worker is lost and it has attempts left. */
  | { kind: 'lost_with_attempts_left'; jobId: string };

/** The condition that lets a caller have a job wait again. */
export function mayRelease(guard: ReleaseGuard): Prisma.Sql {
  switch (guard.kind) {
    case 'fence':
      return holdsFence(guard.fence);
    case 'fence_with_room_elsewhere': {
      const needed = Prisma.sql`${guard.neededBytes}::bigint`;
      return Prisma.sql`${holdsFence(guard.fence)} AND j.status = 'running' AND ${hasRoomElsewhere(Prisma.sql`j.worker_id`, needed)}`;
    }
    case 'fence_with_attempts_left':
      return Prisma.sql`${holdsFence(guard.fence)} AND ${hasAttemptsLeft}`;
    case 'fence_with_room_unknown':
      return Prisma.sql`${holdsFence(guard.fence)} AND ${hasAttemptsLeft} AND ${mayHaveRoomElsewhere(Prisma.sql`j.worker_id`)}`;
    case 'lost_with_attempts_left':
      return Prisma.sql`${leaseOfOneIsOver(guard.jobId)} AND ${hasAttemptsLeft}`;
  }
}
