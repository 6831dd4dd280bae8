import type { z } from 'zod';
import type { FailedJob, JobHistory } from '@millrace/jobs';
import type { FailurePageSchema, OperatedJobSchema } from './job-history.schemas';

type Shown = z.output<typeof OperatedJobSchema>;

/** What a job looks like to operators. */
export function presentHistory(job: JobHistory): Shown {
  return {
    id: job.id,
    account_id: job.accountId,
    surface: job.surface,
    deployment_id: job.deploymentId,
    pool: job.poolId,
    status: job.status,
    delivery: job.delivery,
    priority: job.priority,
    worker_id: job.workerId,
    max_attempts: job.maxAttempts,
    attempts: job.attempts.map(presentAttempt),
    transitions: job.transitions.map(presentTransition),
    error: job.error,
    metadata: job.metadata,
    models: job.models,
    engine_ms: engineMsOf(job),
    held_micros: job.heldMicros,
    charged_micros: job.chargedMicros,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    completed_at: job.completedAt?.toISOString() ?? null,
    deadline_at: job.deadlineAt.toISOString(),
    expires_at: job.expiresAt.toISOString(),
  };
}

/** An attempt has its time when it has ended; of the one that runs, the last heartbeat has it. */
export function engineMsOf({
  attempts,
  delivery,
  engineMs,
}: Pick<JobHistory, 'attempts' | 'delivery' | 'engineMs'>): number {
  const ended = attempts.reduce((sum, attempt) => sum + (attempt.engineMs ?? 0), 0);
  return delivery === 'leased' ? ended + engineMs : ended;
}

function presentAttempt(record: JobHistory['attempts'][number]): Shown['attempts'][number] {
  return {
    number: record.attempt,
    worker_id: record.workerId,
    claimed_at: record.claimedAt.toISOString(),
    ended_at: record.endedAt?.toISOString() ?? null,
    outcome: record.outcome,
    engine_ms: record.engineMs,
  };
}

function presentTransition(record: JobHistory['transitions'][number]): Shown['transitions'][number] {
  const { seq, fromStatus, toStatus, attempt, cause, workerId, at } = record;
  return { seq, from: fromStatus, to: toStatus, attempt, cause, worker_id: workerId, at: at.toISOString() };
}

/** What a failed job looks like in the list of them. */
export function presentFailure(job: FailedJob): z.output<typeof FailurePageSchema>['failures'][number] {
  return {
    id: job.id,
    account_id: job.accountId,
    pool: job.poolId,
    attempts: job.attempt,
    error: job.error,
    created_at: job.createdAt.toISOString(),
    completed_at: job.completedAt?.toISOString() ?? null,
  };
}
