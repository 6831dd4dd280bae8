import { extendHold, type ExtensibleColumn } from '@millrace/billing';
import type { JobStatus, Progress } from '@millrace/contracts';
import { composeStatement, statementPart, type Statements } from '@millrace/database';
import { withinLabelsParts } from '../labels';
import { holdsFence, isOvertime, progressOrNull, type Fence } from '../state';
import { elapsedMs } from './settlement.store';

/** What a worker reports with a heartbeat, and the terms on which it goes on. */
export interface Heartbeat {
  progress: Progress | null;
  /** Engine time of the attempt so far, in milliseconds. */
  engineMs: number;
  leaseSeconds: number;
  /** Of an attempt, where its pool has no limit of its own. */
  attemptLimitSeconds: number;
  holdExtensionSeconds: number;
}

export interface HeartbeatAnswer {
  status: JobStatus;
  /** True when the run has used up its hold and the account has nothing to extend it from. */
  exhausted: boolean;
  /** True when the attempt has reached its time limit. */
  overtime: boolean;
}

type RunColumn =
  | Exclude<ExtensibleColumn, 'spend_limit_micros'>
  | 'account_id'
  | 'api_key_id'
  | 'may_extend'
  | 'overtime'
  | 'own_limit_micros'
  | 'metadata'
  | 'limited_labels';

/**
 * Renew a lease, keep what is known of the run, and extend its hold before that is used up: one statement, which touches the
 * account's balance only when an extension is due. The lease counts from when that is done: a heartbeat may have waited for the account.
 *
 * @returns null when the lease is lost.
 */
export async function renewLease(
  statements: Statements,
  fence: Fence,
  { progress, engineMs, leaseSeconds, attemptLimitSeconds, holdExtensionSeconds }: Heartbeat,
): Promise<HeartbeatAnswer | null> {
  const run = statementPart<RunColumn>('run')`
    SELECT j.id, j.account_id, j.api_key_id, j.held_micros, j.spend_limit_micros AS own_limit_micros, j.metadata, j.limited_labels, j.price_micros_per_second, e.engine_ms,
           j.billable_ms + e.engine_ms AS used_ms, j.status = 'running' AS may_extend,
           ${isOvertime(attemptLimitSeconds)} AS overtime
    FROM jobs j JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt JOIN pools p ON p.id = j.pool_id
    CROSS JOIN LATERAL (SELECT greatest(j.engine_ms, least(${engineMs}::bigint, ${elapsedMs})) AS engine_ms) e
    WHERE ${holdsFence(fence)} FOR UPDATE OF j`;
  const terms = { leadMs: leaseSeconds * 1_000, stepMs: holdExtensionSeconds * 1_000 };
  const { limited, note } = withinLabelsParts<RunColumn>(run, terms);
  const { hold, writes } = extendHold(limited, terms);
  const job = statementPart('job')`
    UPDATE jobs j SET lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}),
      progress = coalesce(${progressOrNull(progress)}::jsonb, j.progress), engine_ms = run.engine_ms,
      held_micros = hold.held_micros
    FROM ${run} run, ${hold} hold, ${note(hold)} noted WHERE j.id = run.id AND hold.id = run.id
    RETURNING j.status, hold.is_exhausted AS exhausted, run.overtime`;
  const [answer] = await statements.rows<HeartbeatAnswer>(composeStatement(writes)`SELECT * FROM ${job}`);
  return answer ?? null;
}
