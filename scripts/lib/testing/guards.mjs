/**
 * Something that keeps the promises of jobs, and how to remove it: from a source, or from the database by `sql`. `tests` are
 * patterns of the files of which one must then fail.
 *
 * @typedef {{ name: string, tests: string[], file?: string, find?: string, replace?: string, sql?: string }} Guard
 */

const LIFECYCLE = 'libs/jobs/src/lifecycle/lifecycle.store.ts';
const DISPATCH = 'libs/jobs/src/rotation/turn.store.ts';
const SUBMISSION = 'libs/jobs/src/submission/submission.store.ts';
const OUTPUT = 'libs/jobs/src/outputs/output.store.ts';
const OUTPUT_ASSET = 'libs/assets/src/records/output-asset.store.ts';
const KEYS = 'libs/database/src/idempotency-key.store.ts';
const LEDGER = 'libs/billing/src/ledger/hold.store.ts';
const WARM_CLAIMS = 'libs/jobs/src/dispatch/warm-claim.store.ts';
const DISPATCHER = 'libs/jobs/src/dispatch/dispatcher.ts';
const BLOBS = 'libs/assets/src/records/blob-record.store.ts';
const WARM = ['libs/jobs/src/dispatch/warm-claims.int-spec'];
const LIVES = ['libs/assets/src/retention/lives.int-spec', 'libs/assets/src/retention/retention.int-spec'];
const OUTPUTS = ['libs/jobs/src/outputs/output.int-spec'];
const RULES = ['libs/jobs/src/lifecycle/lifecycle.int-spec'];

/** @type {Guard[]} */
export const GUARDS = [
  of('the fence compares the attempt', LIFECYCLE, 'AND j.attempt = ${attempt} AND j.lease_token', 'AND j.lease_token'),
  of(
    'the fence compares the lease token',
    LIFECYCLE,
    "AND j.lease_token = ${leaseToken}::uuid AND ${delivery} = 'leased'`",
    "AND ${delivery} = 'leased'`",
  ),
  of(
    'only a lease that ran out is taken back',
    LIFECYCLE,
    "${delivery} = 'leased' AND j.lease_expires_at < now()`",
    "${delivery} = 'leased'`",
  ),
  of('a claim takes the next attempt', LIFECYCLE, 'AND j.attempt = ${claim.attempt} - 1 AND', 'AND'),
  of('a claim takes what was dispatched', LIFECYCLE, " - 1 AND ${delivery} = 'dispatched'", ' - 1'),
  of(
    'a claim respects the deadline',
    LIFECYCLE,
    "IN ('queued', 'running') AND j.deadline_at > now()",
    "IN ('queued', 'running')",
  ),
  of(
    'a claim leaves a job that is to be canceled',
    LIFECYCLE,
    "AND j.status IN ('queued', 'running') AND j.deadline_at",
    'AND j.deadline_at',
    RULES,
  ),
  of(
    'attempts are bounded',
    LIFECYCLE,
    "AND j.status = 'running' AND j.attempt < j.max_attempts`;\n    return this.release(statements, guard, 'lost'",
    "AND j.status = 'running'`;\n    return this.release(statements, guard, 'lost'",
    RULES,
  ),
  of(
    'a cancel ends only what has not started',
    LIFECYCLE,
    "${scopeOf(scope)} AND j.status = 'queued'`",
    '${scopeOf(scope)}`',
  ),
  of(
    'a worker cancels only when asked',
    LIFECYCLE,
    "${fenceOf(fence)} AND j.status = 'canceling'`",
    '${fenceOf(fence)}`',
  ),
  of('only what is overdue expires', LIFECYCLE, ' AND j.deadline_at <= now()`', '`'),
  of(
    'a job to be canceled is not ended under its worker',
    LIFECYCLE,
    "j.status = 'canceling' AND j.delivery <> 'leased'`",
    "j.status = 'canceling'`",
  ),
  of(
    'what can be tried again is not given up',
    LIFECYCLE,
    "${itsLeaseIsOver} AND (j.status = 'canceling' OR j.attempt >= j.max_attempts)`",
    '${itsLeaseIsOver}`',
  ),
  of(
    'a job is passed over for others a few times at most',
    WARM_CLAIMS,
    '${hint.passed ?? 0} < (SELECT count(*) FROM member)',
    'true',
    WARM,
  ),
  of(
    'a hint that was taken and not taken up is offered again',
    DISPATCHER,
    "states[index] !== 'waiting'",
    "states[index] === 'absent'",
    WARM,
  ),
  of(
    'an orphan is kept for a while',
    BLOBS,
    'o.orphaned_at < now() - make_interval(secs => ${graceSeconds})',
    'o.orphaned_at IS NOT NULL',
    LIVES,
  ),
  of(
    'what is condemned is not minted from',
    BLOBS,
    '::timestamptz AND b.orphaned_at IS DISTINCT FROM ${CONDEMNED}`;',
    '::timestamptz`;',
    OUTPUTS,
  ),
  of('an output needs the fence', OUTPUT, '${guards.fence(fence)} FOR', 'j.id = ${fence.jobId}::uuid FOR'),
  of(
    'an attempt is not lost while it records',
    OUTPUT,
    '${guards.fence(fence)} FOR NO KEY UPDATE',
    '${guards.fence(fence)}',
    OUTPUTS,
  ),
  of('tries of an attempt record one after the other', OUTPUT, 'FOR NO KEY UPDATE`', 'FOR SHARE`', OUTPUTS),
  of(
    'an output that was not seen is not replaced',
    OUTPUT,
    '\n      WHERE o.asset_id = (SELECT asset_id FROM ${replaced}) OR refuse(${OUTPUT_OVERTAKEN})',
    '',
    OUTPUTS,
  ),
  of("an output is of its account's bytes", OUTPUT_ASSET, ' AND b.account_id = j.account_id', '', OUTPUTS),
  of(
    'what an output replaces expires',
    OUTPUT,
    'retireAssetPart(replaced);',
    "statementPart('retired')`SELECT 1`;",
    OUTPUTS,
  ),
  of(
    'what an output replaces is locked before the output',
    OUTPUT,
    ', (SELECT count(*) FROM ${retired}) AS locked',
    '',
    OUTPUTS,
  ),
  of('a lane is filled to its room', DISPATCH, '(SELECT in_flight FROM gate) < ${room} AND', 'true AND'),
  without(
    'one process dispatches for a pool at a time',
    `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('dispatch_turn'::regproc),
      'NOT pg_try_advisory_xact_lock(hashtextextended(''dispatch:'' || pool, 0))', 'false'); END $$`,
  ),
  of('an account runs no more than it may', DISPATCH, 'AND q.eligible', 'AND q.waiting > 0'),
  of('accounts take turns', DISPATCH, ', pass = q.pass + ${STRIDE} / q.weight', ''),
  of('a queue has an end', SUBMISSION, 'WHERE q.waiting < ${draft.queueLimit} OR refuse(${QUEUE_FULL})', ''),
  of('a key is used once', KEYS, 'WHERE k.expires_at <= now() OR refuse(${KEY_REUSED})', ''),
  of(
    'a hold is covered',
    LEDGER,
    'WHERE b.available_micros >= ${hold.amountMicros} OR refuse(${INSUFFICIENT_CREDITS})',
    '',
  ),
  without('one record per key', 'ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey'),
  without(
    'one hold and one end per job',
    'ALTER TABLE ledger_transactions DROP CONSTRAINT IF EXISTS ledger_transactions_cause_key; DROP INDEX IF EXISTS ledger_transactions_cause_key',
  ),
  without('one row per attempt', 'ALTER TABLE job_attempts DROP CONSTRAINT job_attempts_pkey'),
  without('nothing leaves a terminal state', 'DROP TRIGGER jobs_terminal_trigger ON jobs'),
  without('attempt and number only grow', 'DROP TRIGGER jobs_forward_trigger ON jobs'),
  without('history is appended to', 'DROP TRIGGER job_transitions_append_trigger ON job_transitions'),
  without('a graph stays as submitted', 'DROP TRIGGER job_graphs_append_trigger ON job_graphs'),
  without('only moves of the table', 'ALTER TABLE job_transitions DROP CONSTRAINT job_transitions_table_check'),
  without('no balance below nothing', 'ALTER TABLE balances DROP CONSTRAINT balances_never_negative_check'),
  without('no counter below nothing', 'ALTER TABLE account_queues DROP CONSTRAINT account_queues_counters_check'),
];

/**
 * @param {string} name
 * @param {string} file
 * @param {string} find
 * @param {string} replace
 * @param {string[]} [tests]
 * @returns {Guard}
 */
function of(name, file, find, replace, tests = RULES) {
  return { name, file, find, replace, tests };
}

/**
 * @param {string} name
 * @param {string} sql
 * @returns {Guard}
 */
function without(name, sql) {
  return { name, sql, tests: RULES };
}
