import { Prisma } from '@prisma/client';
import type { JobError, JobMetadata, JobStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { boundedFailure, type Delivery } from '../state';

/** One worker's turn at a job. */
export interface AttemptRecord {
  attempt: number;
  workerId: string;
  claimedAt: Date;
  endedAt: Date | null;
  /** Null while it runs. */
  outcome: string | null;
  engineMs: number | null;
}

/** A change of a job's status, and what caused it. */
export interface TransitionRecord {
  seq: number;
  /** Null for the submission. */
  fromStatus: JobStatus | null;
  toStatus: JobStatus;
  attempt: number;
  cause: string;
  workerId: string | null;
  at: Date;
}

/** A job of any account, where it is now and what became of its attempts. */
export interface JobHistory {
  id: string;
  accountId: string;
  surface: string;
  deploymentId: string | null;
  poolId: string;
  status: JobStatus;
  delivery: Delivery;
  priority: number;
  /** Who has it now, or had it last. */
  workerId: string | null;
  maxAttempts: number;
  error: JobError | null;
  metadata: JobMetadata;
  models: string[];
  engineMs: number;
  heldMicros: number;
  chargedMicros: number | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  deadlineAt: Date;
  expiresAt: Date;
  attempts: AttemptRecord[];
  transitions: TransitionRecord[];
}

/** A job that failed. */
export interface FailedJob {
  id: string;
  accountId: string;
  poolId: string;
  attempt: number;
  error: JobError | null;
  createdAt: Date;
  completedAt: Date | null;
}

/** The SQL of what operators read of jobs of any account. Serves the admin API alone. */
export class JobHistoryStore {
  /** @returns null when there is no such job, or it has expired. */
  async find(tx: Statements, id: string): Promise<JobHistory | null> {
    const [job] = await tx.rows<Omit<JobHistory, 'attempts' | 'transitions'>>(Prisma.sql`
      SELECT id, account_id, surface, deployment_id, pool_id, status, delivery, priority, worker_id, max_attempts, error,
             metadata, coalesce(models, '{}') AS models, engine_ms::float8 AS engine_ms, held_micros::float8 AS held_micros,
             charged_micros::float8 AS charged_micros, created_at, started_at, completed_at, deadline_at, expires_at
      FROM jobs WHERE id = ${id}::uuid AND expires_at > now()`);
    if (job === undefined) return null;
    const attempts = await tx.rows<AttemptRecord>(Prisma.sql`
      SELECT attempt, worker_id, claimed_at, ended_at, outcome, engine_ms::float8 AS engine_ms
      FROM job_attempts WHERE job_id = ${id}::uuid ORDER BY attempt`);
    const transitions = await tx.rows<TransitionRecord>(Prisma.sql`
      SELECT seq, from_status, to_status, attempt, cause, worker_id, at
      FROM job_transitions WHERE job_id = ${id}::uuid ORDER BY seq`);
    return { ...bounded(job), attempts, transitions };
  }

  /** Jobs that failed, the latest submitted first, `limit` at most, submitted before `before` where one is given. */
  async failed(tx: Statements, before: string | null, limit: number): Promise<FailedJob[]> {
    const older = before === null ? Prisma.empty : Prisma.sql`AND id < ${before}::uuid`;
    const jobs = await tx.rows<FailedJob>(Prisma.sql`
      SELECT id, account_id, pool_id, attempt, error, created_at, completed_at
      FROM jobs WHERE status = 'failed' AND expires_at > now() ${older} ORDER BY id DESC LIMIT ${limit}`);
    return jobs.map(bounded);
  }

  /** What each worker runs now. Costs a walk over the jobs that workers have. */
  async running(tx: Statements): Promise<{ workerId: string; jobIds: string[] }[]> {
    return tx.rows(Prisma.sql`
      SELECT worker_id, array_agg(id ORDER BY id) AS job_ids FROM jobs
      WHERE delivery = 'leased' AND worker_id IS NOT NULL GROUP BY worker_id`);
  }
}

function bounded<Row extends { error: JobError | null }>(row: Row): Row {
  return { ...row, error: row.error && boundedFailure(row.error) };
}
