import { Prisma } from '@prisma/client';
import type { JobStatus, Progress, SurfaceKind } from '@millrace/contracts';
import { type BilledColumn, chargePart, endHoldParts, extendHold, type MeteredColumn } from '@millrace/billing';
import { composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import { leaveQueuePart } from '../rotation/account-queue.store';
import type { ClaimedAttempt, Fence, JobFailure, JobScope, NodeTiming } from '../state/job';
import type { AttemptOutcome } from '../state/job-state';

/** A job's status after a statement that moved it. */
export interface MovedJob {
  id: string;
  accountId: string;
  poolId: string;
  from: JobStatus;
  status: JobStatus;
  seq: number;
  attempt: number;
  workerId: string | null;
  chargedMicros: bigint | null;
  /** Whether credentials were handed over for it. */
  hasSecrets: boolean;
}

/** How a job ends. */
export interface Ending {
  status: 'succeeded' | 'failed' | 'expired' | 'canceled';
  /** For the history: what brought the end about. */
  cause: string;
  failure: JobFailure | null;
  /**
   * Engine time of the present attempt in milliseconds, when it is to be billed. Null: as its worker last told, and nothing
   * when that worker's lease has run out.
   */
  engineMs: number | null;
  outcome: AttemptOutcome;
  progress: Progress | null;
  nodes: NodeTiming[] | null;
  log: { text: string; truncated: boolean } | null;
}

/** What a worker tells with a heartbeat, and what it is to do. */
export interface Heartbeat {
  leaseSeconds: number;
  progress: Progress | null;
  /** Engine time of the attempt so far, in milliseconds. */
  engineMs: number;
  holdExtensionSeconds: number;
}

export interface HeartbeatAnswer {
  status: JobStatus;
  /** True when the run has used up its hold and the account has nothing to extend it from. */
  exhausted: boolean;
}

type MovedColumn = keyof MovedRow;
type EndedColumn = MovedColumn | 'surface' | 'from_delivery' | 'used_ms' | 'held_micros' | 'billable_ms';

interface MovedRow {
  id: string;
  account_id: string;
  pool_id: string;
  from_status: JobStatus;
  status: JobStatus;
  seq: number;
  attempt: number;
  worker_id: string | null;
  charged_micros: bigint | null;
  has_secrets: boolean;
}

interface ClaimedRow {
  account_id: string;
  pool_id: string;
  surface: SurfaceKind;
  status: JobStatus;
  workflow: string;
  deadline_at: Date;
  has_secrets: boolean;
  models: string[] | null;
  progress: Progress | null;
  traceparent: string | null;
  seq: number;
  waited_ms: number;
}

/** A job on the surface it was made on, until it expires. */
export function scopeOf({ accountId, surface, deploymentId }: JobScope): Prisma.Sql {
  return Prisma.sql`j.account_id = ${accountId}::uuid AND j.surface = ${surface}
    AND j.deployment_id IS NOT DISTINCT FROM ${deploymentId}::uuid AND j.expires_at > now()`;
}

/**
 * The delivery of a job that is named by its id: an expression, so that no partial index answers for it. By the planner's
 * statistics those of jobs in flight are nearly empty and cheaper than the primary key; under a transaction that stays open
 * they hold all that was ever in flight since, and each beat would read it.
 */
const delivery = Prisma.sql`(j.delivery || '')`;

const fenceOf = ({ jobId, attempt, leaseToken }: Fence): Prisma.Sql => Prisma.sql`
  j.id = ${jobId}::uuid AND j.attempt = ${attempt} AND j.lease_token = ${leaseToken}::uuid AND ${delivery} = 'leased'`;

const leaseIsOver = Prisma.sql`j.delivery = 'leased' AND j.lease_expires_at < now()`;
/** The same of one job. */
const itsLeaseIsOver = Prisma.sql`${delivery} = 'leased' AND j.lease_expires_at < now()`;

/** What must hold of a job for whoever wants to end it; zero rows otherwise, and nothing happens. */
export const guards = {
  /** The caller holds the lease. */
  fence: fenceOf,
  /** The caller holds the lease, and was asked to stop. */
  canceling: (fence: Fence): Prisma.Sql => Prisma.sql`${fenceOf(fence)} AND j.status = 'canceling'`,
  /** It has not started. */
  queued: (scope: JobScope, jobId: string): Prisma.Sql =>
    Prisma.sql`j.id = ${jobId}::uuid AND ${scopeOf(scope)} AND j.status = 'queued'`,
  /** It is to be canceled, and no worker has it. */
  cancelingUnleased: (jobId: string): Prisma.Sql =>
    Prisma.sql`j.id = ${jobId}::uuid AND j.status = 'canceling' AND j.delivery <> 'leased'`,
  /** Its worker is lost, and there is nothing to try again. */
  lost: (jobId: string): Prisma.Sql =>
    Prisma.sql`j.id = ${jobId}::uuid AND ${itsLeaseIsOver} AND (j.status = 'canceling' OR j.attempt >= j.max_attempts)`,
  /** Its execution deadline has passed. */
  overdue: (jobId: string): Prisma.Sql => Prisma.sql`j.id = ${jobId}::uuid AND j.deadline_at <= now()`,
};

/**
 * The statements that move a job. Each is one statement, guarded by what must hold, and appends to the history what it
 * moved. No row is a normal answer: someone else was first. Locks are taken in one order everywhere: job, then the
 * account's queue, then its balance.
 */
export class LifecycleStore {
  /** Take a dispatched attempt. The status becomes `running` with the first one and stays so with later ones. */
  async claim(
    statements: Statements,
    claim: { jobId: string; attempt: number; workerId: string; leaseToken: string; leaseSeconds: number },
  ): Promise<(ClaimedAttempt & { seq: number; waitedMs: number }) | null> {
    const job = statementPart('job')`
      UPDATE jobs j
      SET status = 'running', delivery = 'leased', attempt = ${claim.attempt}, worker_id = ${claim.workerId}::uuid,
          lease_token = ${claim.leaseToken}::uuid,
          lease_expires_at = now() + make_interval(secs => ${claim.leaseSeconds}),
          started_at = coalesce(j.started_at, now()), engine_ms = 0, updated_at = now(),
          seq = j.seq + CASE WHEN j.status = 'queued' THEN 1 ELSE 0 END
      FROM (SELECT id, status FROM jobs WHERE id = ${claim.jobId}::uuid FOR UPDATE) old
      WHERE j.id = old.id AND j.attempt = ${claim.attempt} - 1 AND ${delivery} = 'dispatched'
        AND j.status IN ('queued', 'running') AND j.deadline_at > now()
      RETURNING j.*, old.status AS from_status`;
    const transition = statementPart('transition')`
      INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause, worker_id)
      SELECT id, seq, from_status, status, attempt, 'claimed', worker_id FROM ${job} WHERE from_status = 'queued'`;
    const attempt = statementPart('attempt')`
      INSERT INTO job_attempts (job_id, attempt, worker_id) SELECT id, attempt, worker_id FROM ${job}`;
    const [row] = await statements.query<ClaimedRow>(composeStatement([transition, attempt])`
      SELECT job.account_id, job.pool_id, job.surface, job.status, job.deadline_at, job.has_secrets, job.progress,
             job.models, job.traceparent, job.seq, g.workflow,
             (extract(epoch FROM job.started_at - job.created_at) * 1000)::float8 AS waited_ms
      FROM ${job} job JOIN job_graphs g ON g.job_id = job.id`);
    if (row === undefined) return null;
    return {
      jobId: claim.jobId,
      attempt: claim.attempt,
      leaseToken: claim.leaseToken,
      accountId: row.account_id,
      poolId: row.pool_id,
      status: row.status,
      workflow: row.workflow,
      deadlineAt: row.deadline_at,
      hasSecrets: row.has_secrets,
      models: row.models ?? [],
      progress: row.progress,
      traceparent: row.traceparent,
      seq: row.seq,
      waitedMs: row.waited_ms,
      keepsLogs: row.surface === 'deployment',
    };
  }

  /**
   * Renew a lease, keep what is known of the run, and extend its hold before that is used up: one statement, which touches
   * the account's balance only when an extension is due.
   *
   * @returns the status to obey and whether the run has used up all that its account can hold for it; null when the lease is
   * lost.
   */
  async heartbeat(statements: Statements, fence: Fence, beat: Heartbeat): Promise<HeartbeatAnswer | null> {
    const run = runPart(fence, beat);
    const terms = { leadMs: beat.leaseSeconds * 1_000, stepMs: beat.holdExtensionSeconds * 1_000 };
    const { hold, writes } = extendHold(run, terms);
    const job = statementPart('job')`
      UPDATE jobs j SET lease_expires_at = now() + make_interval(secs => ${beat.leaseSeconds}),
        progress = coalesce(${jsonOrNull(beat.progress)}::jsonb, j.progress), engine_ms = run.engine_ms,
        held_micros = hold.held_micros
      FROM ${run} run, ${hold} hold WHERE j.id = run.id AND hold.id = run.id
      RETURNING j.status, hold.is_exhausted AS exhausted`;
    const [row] = await statements.query<HeartbeatAnswer>(composeStatement(writes)`SELECT * FROM ${job}`);
    return row ?? null;
  }

  /** Ask a running job to stop. */
  async requestCancel(statements: Statements, scope: JobScope, jobId: string): Promise<MovedJob | null> {
    const job = statementPart<MovedColumn>('job')`
      UPDATE jobs j SET status = 'canceling', seq = j.seq + 1, updated_at = now()
      WHERE j.id = ${jobId}::uuid AND ${scopeOf(scope)} AND j.status = 'running'
      RETURNING j.*, 'running' AS from_status`;
    return this.moved(statements, job, [transitionPart(job, 'cancel requested')]);
  }

  /**
   * End a job: status, attempt, hold and counters together. A job that is `canceling` ends `canceled` whatever was asked.
   *
   * @param guard what must hold of the job `j` for this caller to end it.
   */
  async end(statements: Statements, guard: Prisma.Sql, ending: Ending): Promise<MovedJob | null> {
    const old = statementPart<BilledColumn | 'status' | 'delivery' | 'used_ms'>('old')`
      SELECT j.id, j.status, j.delivery, j.held_micros, j.price_micros_per_second, u.used_ms,
             j.billable_ms + u.used_ms AS billable_ms
      FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt
      CROSS JOIN LATERAL (SELECT CASE WHEN j.delivery <> 'leased' THEN 0
        WHEN ${ending.engineMs}::bigint IS NOT NULL THEN least(${ending.engineMs}::bigint, ${elapsedMs})
        WHEN j.lease_expires_at < now() THEN 0
        ELSE j.engine_ms END AS used_ms) u
      WHERE ${guard} AND ${delivery} <> 'done' FOR UPDATE OF j`;
    const charge = chargePart(old);
    const job = statementPart<EndedColumn>('job')`
      UPDATE jobs j
      SET status = CASE WHEN old.status = 'canceling' THEN 'canceled' ELSE ${ending.status} END,
          delivery = 'done', lease_token = NULL, lease_expires_at = NULL, completed_at = now(), updated_at = now(),
          seq = j.seq + 1, progress = coalesce(${jsonOrNull(ending.progress)}::jsonb, j.progress),
          error = CASE WHEN old.status = 'canceling' THEN NULL ELSE ${jsonOrNull(ending.failure)}::jsonb END,
          billable_ms = old.billable_ms, held_micros = old.held_micros, charged_micros = old.charged_micros
      FROM ${charge} old WHERE j.id = old.id
      RETURNING j.*, old.status AS from_status, old.delivery AS from_delivery, old.used_ms`;
    const usage = statementPart('usage')`
      INSERT INTO usage_records (job_id, account_id, api_key_id, deployment_id, status, billable_ms, charged_micros,
        labels, finished_at)
      SELECT id, account_id, api_key_id, deployment_id, status, billable_ms, charged_micros, metadata, completed_at
      FROM ${job} WHERE surface <> 'self_hosted'`;
    const inputs = statementPart('inputs')`DELETE FROM job_inputs i USING ${job} job WHERE i.job_id = job.id`;
    const staleOutputs = statementPart('stale_outputs')`
      DELETE FROM job_outputs o USING ${job} job
      WHERE o.job_id = job.id AND o.attempt < job.attempt AND job.status = 'succeeded'`;
    return this.moved(statements, job, [
      transitionPart(job, ending.cause),
      attemptPart(job, ending),
      ...endHoldParts(leaveQueuePart<EndedColumn>(job)),
      usage,
      inputs,
      staleOutputs,
      ending.log === null ? unheardLogPart(job) : logPart(job, ending.log),
    ]);
  }

  /** Give an attempt back, so that another worker takes the next. Does not count against the attempts. */
  async handBack(statements: Statements, fence: Fence): Promise<MovedJob | null> {
    return this.release(statements, fenceOf(fence), 'handed_back', Prisma.sql`j.max_attempts + 1`);
  }

  /** Give up an attempt that the engine lost; the job waits for its next, unless this was the last. */
  async giveUp(statements: Statements, fence: Fence): Promise<MovedJob | null> {
    const guard = Prisma.sql`${fenceOf(fence)} AND j.status = 'running' AND j.attempt < j.max_attempts`;
    return this.release(statements, guard, 'lost', Prisma.sql`j.max_attempts`);
  }

  /** Take a lost attempt from its worker; the job waits for its next. Guards itself: the lease must have run out. */
  async takeBack(statements: Statements, jobId: string): Promise<MovedJob | null> {
    const guard = Prisma.sql`j.id = ${jobId}::uuid AND ${itsLeaseIsOver} AND j.status = 'running' AND j.attempt < j.max_attempts`;
    return this.release(statements, guard, 'lost', Prisma.sql`j.max_attempts`);
  }

  /**
   * Keep what an attempt has printed so far, in case its worker never tells the rest; also after the job was ended over its
   * head. Nothing happens once another attempt has begun, or the whole log is there.
   */
  async keepLog(
    statements: Statements,
    { jobId, attempt }: Fence,
    log: { text: string; truncated: boolean },
  ): Promise<void> {
    await statements.execute(Prisma.sql`
      INSERT INTO job_logs AS l (job_id, text, truncated, complete, captured_at)
      SELECT j.id, ${storable(log.text)}, ${log.truncated}, false, now() FROM jobs j
      WHERE j.id = ${jobId}::uuid AND j.attempt = ${attempt} AND j.surface = 'deployment'
      ON CONFLICT (job_id) DO UPDATE
        SET text = excluded.text, truncated = excluded.truncated, captured_at = excluded.captured_at
        WHERE NOT l.complete`);
  }

  /** Take back from the lanes of stopped deployments what no worker has claimed. @returns how many jobs wait again. */
  async recallFromStopped(statements: Statements): Promise<number> {
    const rows = await statements.query(Prisma.sql`
      WITH job AS (
        UPDATE jobs j SET delivery = 'waiting', dispatched_at = NULL, updated_at = now()
        FROM deployments d
        WHERE d.desired_state = 'stopped' AND j.pool_id = d.pool_id
          AND j.delivery IN ('dispatched', 'leased') AND j.delivery = 'dispatched'
        RETURNING j.id, j.pool_id, j.account_id
      ), queue AS (
        UPDATE account_queues q SET in_flight = q.in_flight - c.jobs, waiting = q.waiting + c.jobs
        FROM (SELECT pool_id, account_id, count(*)::int AS jobs FROM job GROUP BY pool_id, account_id) c
        WHERE q.pool_id = c.pool_id AND q.account_id = c.account_id
      )
      SELECT id FROM job`);
    return rows.length;
  }

  /** Jobs whose lease has run out, oldest first, and such as are to be canceled between two attempts. Two small indexes. */
  async listLost(statements: Statements, limit: number): Promise<LostJob[]> {
    const rows = await statements.query<{ id: string; status: JobStatus; attempt: number; max_attempts: number }>(
      Prisma.sql`
        (SELECT j.id, j.status, j.attempt, j.max_attempts FROM jobs j
         WHERE ${leaseIsOver} ORDER BY j.lease_expires_at LIMIT ${limit})
        UNION ALL
        (SELECT j.id, j.status, j.attempt, j.max_attempts FROM jobs j
         WHERE j.delivery IN ('waiting', 'dispatched') AND j.status = 'canceling' LIMIT ${limit})`,
    );
    return rows.map((row) => ({ id: row.id, status: row.status, last: row.attempt >= row.max_attempts }));
  }

  /** Jobs past their execution deadline. */
  async listOverdue(statements: Statements, limit: number): Promise<string[]> {
    const rows = await statements.query<{ id: string }>(Prisma.sql`
      SELECT id FROM jobs WHERE delivery <> 'done' AND deadline_at <= now() ORDER BY deadline_at LIMIT ${limit}`);
    return rows.map((row) => row.id);
  }

  private async release(
    statements: Statements,
    guard: Prisma.Sql,
    outcome: AttemptOutcome,
    maxAttempts: Prisma.Sql,
  ): Promise<MovedJob | null> {
    const job = statementPart<MovedColumn>('job')`
      UPDATE jobs j SET delivery = 'waiting', lease_token = NULL, lease_expires_at = NULL, dispatched_at = NULL,
        max_attempts = ${maxAttempts}, updated_at = now()
      WHERE ${guard}
      RETURNING j.*, j.status AS from_status`;
    const attempt = statementPart('attempt')`
      UPDATE job_attempts a SET ended_at = now(), outcome = ${outcome}
      FROM ${job} job WHERE a.job_id = job.id AND a.attempt = job.attempt`;
    const queue = statementPart('queue')`
      UPDATE account_queues q SET in_flight = q.in_flight - 1, waiting = q.waiting + 1
      FROM ${job} job WHERE q.pool_id = job.pool_id AND q.account_id = job.account_id`;
    return this.moved(statements, job, [attempt, queue]);
  }

  private async moved(
    statements: Statements,
    job: StatementPart<MovedColumn>,
    parts: StatementPart[],
  ): Promise<MovedJob | null> {
    const [row] = await statements.query<MovedRow>(composeStatement(parts)`
      SELECT id, account_id, pool_id, from_status, status, seq, attempt, worker_id, charged_micros, has_secrets FROM ${job}`);
    if (row === undefined) return null;
    return {
      id: row.id,
      accountId: row.account_id,
      poolId: row.pool_id,
      from: row.from_status,
      status: row.status,
      seq: row.seq,
      attempt: row.attempt,
      workerId: row.worker_id,
      chargedMicros: row.charged_micros,
      hasSecrets: row.has_secrets,
    };
  }
}

export interface LostJob {
  id: string;
  status: JobStatus;
  /** True when its attempts are used up. */
  last: boolean;
}

/** Nobody can have used more engine time than has passed since the claim, whatever a worker's clock says. */
const elapsedMs = Prisma.sql`(extract(epoch FROM now() - a.claimed_at) * 1000)::bigint`;

/** The run under a lease, its job locked, with the engine time that it would be billed for if it ended now. */
function runPart(
  fence: Fence,
  { engineMs }: Heartbeat,
): StatementPart<MeteredColumn | 'account_id' | 'may_extend' | 'engine_ms'> {
  return statementPart<MeteredColumn | 'account_id' | 'may_extend' | 'engine_ms'>('run')`
    SELECT j.id, j.account_id, j.held_micros, j.price_micros_per_second, e.engine_ms,
           j.billable_ms + e.engine_ms AS used_ms, j.status = 'running' AS may_extend
    FROM jobs j JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt
    CROSS JOIN LATERAL (SELECT greatest(j.engine_ms, least(${engineMs}::bigint, ${elapsedMs})) AS engine_ms) e
    WHERE ${fenceOf(fence)} FOR UPDATE OF j`;
}

function attemptPart(job: StatementPart<EndedColumn>, ending: Ending): StatementPart {
  return statementPart('attempt')`
    UPDATE job_attempts a
    SET ended_at = now(), engine_ms = job.used_ms, nodes = ${jsonOrNull(ending.nodes)}::jsonb,
        outcome = CASE WHEN job.status = 'canceled' THEN 'canceled' ELSE ${ending.outcome} END
    FROM ${job} job WHERE a.job_id = job.id AND a.attempt = job.attempt AND job.from_delivery = 'leased'`;
}

/** The whole log of a run, as its worker told it with the end. */
function logPart(job: StatementPart<'id'>, { text, truncated }: { text: string; truncated: boolean }): StatementPart {
  return statementPart('log')`
    INSERT INTO job_logs (job_id, text, truncated, complete, captured_at)
    SELECT id, ${storable(text)}, ${truncated}, true, now() FROM ${job}
    ON CONFLICT (job_id) DO UPDATE
      SET text = excluded.text, truncated = excluded.truncated, complete = true, captured_at = excluded.captured_at`;
}

/**
 * Every job of a deployment has a log when it has ended (contract, 2.6): one that no worker told of keeps what was kept of
 * it, and one that never ran printed nothing.
 */
function unheardLogPart(job: StatementPart<'id' | 'surface' | 'attempt'>): StatementPart {
  return statementPart('log')`
    INSERT INTO job_logs (job_id, text, truncated, complete, captured_at)
    SELECT id, '', false, attempt = 0, now() FROM ${job} WHERE surface = 'deployment'
    ON CONFLICT (job_id) DO NOTHING`;
}

function transitionPart(job: StatementPart<MovedColumn>, cause: string): StatementPart {
  return statementPart('transition')`
    INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause, worker_id)
    SELECT id, seq, from_status, status, attempt, ${cause}, worker_id FROM ${job}`;
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value, (_, inner: unknown) => storable(inner));
}

/** PostgreSQL stores neither NUL nor half a surrogate pair; engines and their nodes print both. */
function storable<T>(value: T): T {
  return (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value) as T;
}
