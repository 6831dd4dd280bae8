import { Prisma } from '@prisma/client';
import type { Progress } from '@millrace/contracts';
import { type BilledColumn, chargePart, endHoldParts } from '@millrace/billing';
import { versionOfJob } from '@millrace/deployments';
import { statementPart, type StatementPart, type Statements } from '@millrace/database';
import { recordJobEndPart } from '@millrace/webhooks';
import { leaveLabelsPart } from '../labels';
import { leaveRotationPart } from '../rotation';
import { failureOrNull, mayEnd, progressOrNull, timingsOrNull, type EndGuard, type MovedJob } from '../state';
import { RECORDED_AS, type JobEnding } from './job-ending';
import { lastLogPart } from './log.store';
import { runMove, transitionPart, type MovedColumn } from './moved-job.store';
import { SETTLEMENT } from './settlement';
import { billedMs, isWaived, leastBilledMs } from './settlement.store';

type EndedColumn =
  MovedColumn | BilledColumn | 'surface' | 'from_delivery' | 'used_ms' | 'api_key_id' | 'metadata' | 'limited_labels';

/** The columns of a job that is about to end, locked, for what is written with its end. */
export type RunColumn = 'id' | 'account_id' | 'attempt' | 'expires_at';

/**
 * Writes more in the statement that ends a job, once the job is locked and before anything else is: reads the job's row, if the
 * guard holds, and yields it when that is written.
 */
export type WithEnd = <Column extends string>(
  job: StatementPart<Column | RunColumn>,
) => StatementPart<Column | RunColumn>;

/**
 * End a job: status, attempt, charge, hold and counters together. A job that is `canceling` ends `canceled`, also when its
 * worker reports another end.
 *
 * @returns null when the guard did not hold, or the job has ended.
 * @throws what `withEnd` refuses: nothing has changed then.
 */
export async function endJob(
  statements: Statements,
  guard: EndGuard,
  ending: JobEnding,
  withEnd: WithEnd = (run) => run,
): Promise<MovedJob | null> {
  const { status, cause } = RECORDED_AS[ending.ending];
  const charged = chargePart(withEnd(runPart(mayEnd(guard), ending)));
  const job = statementPart<EndedColumn>('job')`
    UPDATE jobs j
    SET status = CASE WHEN old.status = 'canceling' THEN 'canceled' ELSE ${status} END,
        delivery = 'done', lease_token = NULL, lease_expires_at = NULL, retry_at = NULL, completed_at = now(), updated_at = now(),
        seq = j.seq + 1, progress = ${furthest(ending.progress)},
        error = CASE WHEN old.status = 'canceling' THEN NULL ELSE ${failureOrNull(ending.failure)}::jsonb END,
        cached_nodes = ${cachedNodes(ending)}::int, billable_ms = old.billable_ms, held_micros = old.held_micros, charged_micros = old.charged_micros
    FROM ${charged} old WHERE j.id = old.id
    RETURNING j.*, old.status AS from_status, old.delivery AS from_delivery, old.used_ms, ${withdrawal(ending)} AS withdrawn`;
  return runMove(statements, job, [
    transitionPart(job, cause),
    attemptPart(job, ending),
    ...endHoldParts(leaveLabelsPart<EndedColumn>(leaveRotationPart<EndedColumn>(job))),
    ...belongingParts(job),
    lastLogPart(job, ending.log),
    recordJobEndPart(job),
  ]);
}

/**
 * The job, locked, with the time that is billed of it. What the end writes is made from this row: the version in the
 * statement's snapshot may be from before an extension of the hold.
 *
 * @param guard the condition on the row `j` of `jobs`.
 */
export function runPart(guard: Prisma.Sql, ending: JobEnding): StatementPart<BilledColumn | RunColumn> {
  const billed = billedMs(SETTLEMENT[ending.ending], 'engineMs' in ending ? ending.engineMs : 0);
  return statementPart<BilledColumn | RunColumn>('old')`
    SELECT j.id, j.account_id, j.attempt, j.expires_at, j.status, j.delivery, j.held_micros, j.price_micros_per_second, u.used_ms,
           j.billable_ms + greatest(u.used_ms, ${leastBilledMs(ending.ending)}) AS billable_ms, j.billable_ms AS billed_before_ms, ${isWaived(SETTLEMENT[ending.ending])} AS is_waived
    FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt
    CROSS JOIN LATERAL (SELECT CASE WHEN j.delivery = 'leased' THEN ${billed} ELSE 0 END AS used_ms) u
    WHERE ${guard} FOR UPDATE OF j`;
}

/**
 * The outputs of a job with a price that is not charged are withdrawn, once the job is locked: `j` as the end writes it and
 * `old` as it was. A function does so, which sees what was recorded while the statement waited for the lock.
 */
function withdrawal(ending: JobEnding): Prisma.Sql {
  return withdrawn(ending, Prisma.sql`withdraw_outputs(j.id)`);
}

/** Of a job that is tried again, the outputs of the attempt that ended alone: its end decides what those before it cost, and with that of their outputs. */
export function attemptWithdrawal(ending: JobEnding): Prisma.Sql {
  return withdrawn(ending, Prisma.sql`withdraw_outputs_after(j.id, j.attempt - 1)`);
}

function withdrawn(ending: JobEnding, withdraw: Prisma.Sql): Prisma.Sql {
  if (SETTLEMENT[ending.ending] === 'billable') return Prisma.sql`NULL`;
  return Prisma.sql`CASE WHEN old.is_waived AND j.price_micros_per_second > 0 THEN ${withdraw} END`;
}

/** Progress never goes back (wire supplement, section 3): a heartbeat may have recorded more than what is known of the end. */
function furthest(progress: Progress | null): Prisma.Sql {
  const known = Prisma.sql`${progressOrNull(progress)}::jsonb`;
  return Prisma.sql`CASE WHEN (${known} ->> 'value')::float8 < (j.progress ->> 'value')::float8 THEN j.progress ELSE coalesce(${known}, j.progress) END`;
}

/** How many nodes the engine had in its cache; null where no worker reports it. */
function cachedNodes({ nodes }: JobEnding): number | null {
  return nodes === null ? null : nodes.filter(({ state }) => state === 'cached').length;
}

/** The attempt that was under way, if there was one. */
function attemptPart(job: StatementPart<EndedColumn>, ending: JobEnding): StatementPart {
  return statementPart('attempt')`
    UPDATE job_attempts a
    SET ended_at = now(), engine_ms = job.used_ms, nodes = ${timingsOrNull(ending.nodes)}::jsonb,
        outcome = CASE WHEN job.status = 'canceled' THEN 'canceled' ELSE ${RECORDED_AS[ending.ending].outcome} END
    FROM ${job} job WHERE a.job_id = job.id AND a.attempt = job.attempt AND job.from_delivery = 'leased'`;
}

/** The usage to be billed by, and what an ended job lets go of: its inputs, and outputs of attempts that did not end it. */
function belongingParts(job: StatementPart<EndedColumn>): StatementPart[] {
  const usage = statementPart('usage')`
    INSERT INTO usage_records (job_id, account_id, api_key_id, deployment_id, deployment_version, status, billable_ms,
      charged_micros, labels, finished_at)
    SELECT id, account_id, api_key_id, deployment_id, ${versionOfJob}, status, billable_ms, charged_micros, metadata, completed_at
    FROM ${job} WHERE surface <> 'self_hosted'`;
  const inputs = statementPart('inputs')`DELETE FROM job_inputs i USING ${job} job WHERE i.job_id = job.id`;
  const staleOutputs = statementPart('stale_outputs')`
    DELETE FROM job_outputs o USING ${job} job
    WHERE o.job_id = job.id AND o.attempt < job.attempt AND job.status = 'succeeded'`;
  return [usage, inputs, staleOutputs];
}
