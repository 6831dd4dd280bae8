/**
 * Something that keeps the promises of jobs, and how to remove it: from a source, or from the database by `sql`. `tests` are
 * patterns of the files of which one must then fail.
 *
 * @typedef {{ name: string, tests: string[], file?: string, find?: string, replace?: string, sql?: string }} Guard
 */

const STATE = 'libs/jobs/src/state/job-guards.store.ts';
const END = 'libs/jobs/src/lifecycle/end.store.ts';
const CLAIM = 'libs/jobs/src/lifecycle/claim.store.ts';
const TURN = 'libs/jobs/src/rotation/turn.store.ts';
const JOIN = 'libs/jobs/src/rotation/join.store.ts';
const OUTPUT = 'libs/jobs/src/outputs/output.store.ts';
const OUTPUT_ASSET = 'libs/assets/src/records/output-asset.store.ts';
const KEYS = 'libs/database/src/idempotency-key.store.ts';
const HOLD = 'libs/billing/src/ledger/hold.store.ts';
const WARM_CLAIMS = 'libs/jobs/src/dispatch/warm-claim.store.ts';
const DISPATCHER = 'libs/jobs/src/dispatch/dispatcher.ts';
const BLOBS = 'libs/assets/src/records/blob-record.store.ts';
const ATTEMPT_END = 'apps/worker/src/attempt/attempt-end.ts';
const ATTEMPT_ENDS = ['apps/worker/src/attempt/attempt-end.spec'];
const WORKER = 'apps/worker/src/worker.ts';
const SICK_WORKERS = ['apps/worker/src/sick-engine.int-spec'];
const WARM = ['libs/jobs/src/dispatch/warm-claims.int-spec'];
const LIVES = ['libs/assets/src/retention/lives.int-spec', 'libs/assets/src/retention/retention.int-spec'];
const OUTPUTS = ['libs/jobs/src/outputs/output.int-spec'];
const SETTLEMENTS = ['libs/jobs/src/lifecycle/settlement.int-spec'];
const RULES = ['libs/jobs/src/lifecycle/lifecycle.int-spec'];
const TURNS = ['libs/jobs/src/rotation/turn.int-spec'];
const SUBMISSIONS = ['libs/jobs/src/submission/submission.store.int-spec'];

/** @type {Guard[]} */
export const GUARDS = [
  of('the fence compares the attempt', STATE, 'AND j.attempt = ${attempt} AND j.lease_token', 'AND j.lease_token'),
  of(
    'the fence compares the lease token',
    STATE,
    "AND j.lease_token = ${leaseToken}::uuid\n    AND ${deliveryOfOne} = 'leased'`",
    "AND ${deliveryOfOne} = 'leased'`",
  ),
  of(
    'only a lease that ran out is taken back',
    STATE,
    "${deliveryOfOne} = 'leased' AND j.lease_expires_at < now()`",
    "${deliveryOfOne} = 'leased'`",
  ),
  of('what is not charged is not delivered', END, 'THEN withdraw_outputs(j.id) END', 'THEN NULL END', SETTLEMENTS),
  of('a job has so many outputs at most', OUTPUT, '< ${maxOutputs} OR refuse', '>= 0 OR refuse', OUTPUTS),
  without(
    'what an index holds of an output is bounded',
    'ALTER TABLE job_outputs DROP CONSTRAINT job_outputs_index_width_check',
    OUTPUTS,
  ),
  of(
    'an attempt may not take for ever',
    STATE,
    "${deliveryOfOne} = 'leased' AND EXISTS (",
    'false AND EXISTS (',
    RULES,
  ),
  of(
    'a worker learns of its time limit',
    'libs/jobs/src/lifecycle/renew.store.ts',
    '${isOvertime(attemptLimitSeconds)} AS overtime',
    'false AS overtime',
    RULES,
  ),
  of('a claim takes the next attempt', CLAIM, 'AND j.attempt = ${attempt} - 1 AND', 'AND'),
  of('a claim takes what was dispatched', CLAIM, " - 1 AND ${deliveryOfOne} = 'dispatched'", ' - 1'),
  of(
    'a claim respects the deadline',
    CLAIM,
    "IN ('queued', 'running') AND j.deadline_at > now()",
    "IN ('queued', 'running')",
  ),
  of(
    'a claim leaves a job that is to be canceled',
    CLAIM,
    "AND j.status IN ('queued', 'running') AND j.deadline_at",
    'AND j.deadline_at',
  ),
  of('attempts are bounded', STATE, "j.status = 'running' AND j.attempt < j.max_attempts`", "j.status = 'running'`"),
  of(
    'a cancel ends only what has not started',
    STATE,
    "${isInScope(guard.scope)} AND j.status = 'queued'`",
    '${isInScope(guard.scope)}`',
  ),
  of(
    'a worker cancels only when asked',
    STATE,
    "${holdsFence(guard.fence)} AND j.status = 'canceling'`",
    '${holdsFence(guard.fence)}`',
  ),
  of('only what is overdue expires', STATE, ' AND j.deadline_at <= now()`', '`'),
  of(
    'a job to be canceled is not ended under its worker',
    STATE,
    "j.status = 'canceling' AND j.delivery <> 'leased'`",
    "j.status = 'canceling'`",
  ),
  of(
    'what can be tried again is not given up',
    STATE,
    "${leaseOfOneIsOver(guard.jobId)} AND (j.status = 'canceling' OR j.attempt >= j.max_attempts)`",
    '${leaseOfOneIsOver(guard.jobId)}`',
  ),
  of(
    'a job is passed over for others a few times at most',
    WARM_CLAIMS,
    '${message.passed ?? 0} < (SELECT count(*) FROM member)',
    'true',
    WARM,
  ),
  of(
    'a message that was received and not acted on is offered again',
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
  of('an output needs the fence', OUTPUT, '${holdsFence(fence)} FOR', 'j.id = ${fence.jobId}::uuid FOR'),
  of(
    'an attempt is not lost while it records',
    OUTPUT,
    '${holdsFence(fence)} FOR NO KEY UPDATE',
    '${holdsFence(fence)}',
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
  of('a lane is filled to its room', TURN, '(SELECT in_flight FROM gate) < ${room} AND', 'true AND', TURNS),
  without(
    'one process dispatches for a pool at a time',
    `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('dispatch_turn'::regproc),
      'NOT pg_try_advisory_xact_lock(hashtextextended(''dispatch:'' || pool, 0))', 'false'); END $$`,
    TURNS,
  ),
  of('an account runs no more than it may', TURN, 'AND q.eligible', 'AND q.waiting > 0', TURNS),
  of('a turn skips an account that is locked', TURN, 'Prisma.sql`SKIP LOCKED`', 'Prisma.empty', TURNS),
  of(
    'a turn waits for an account no longer than it may',
    TURN,
    ", set_config('lock_timeout', ${`${waitMs}ms`}, true)",
    '',
    TURNS,
  ),
  of(
    'time at the running limit earns no credit',
    'libs/jobs/src/rotation/rejoined-pass.store.ts',
    'CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, p.virtual_time) END',
    'q.pass',
    TURNS,
  ),
  of(
    'nothing that holds a connection asks for another',
    'libs/database/src/database.ts',
    'if (this.refusesNested && holdingConnection.getStore() === this) throw',
    'if (false) throw',
    ['libs/database/src/database.int-spec'],
  ),
  of('accounts take turns', TURN, ', pass = q.pass + ${STRIDE} / q.weight', '', TURNS),
  of('a queue has an end', JOIN, 'WHERE q.waiting < ${queueLimit} OR refuse(${QUEUE_FULL})', '', SUBMISSIONS),
  of('a key is used once', KEYS, 'WHERE k.expires_at <= now() OR refuse(${KEY_REUSED})', '', SUBMISSIONS),
  of(
    'a hold is covered',
    HOLD,
    'WHERE b.available_micros >= ${hold.amountMicros} OR refuse(${INSUFFICIENT_CREDITS})',
    '',
    SUBMISSIONS,
  ),
  of('a worker hands back in a drain alone', ATTEMPT_END, 'if (draining)', 'if (true)', ATTEMPT_ENDS),
  of(
    'a worker that lost an engine to a limit ends the job',
    ATTEMPT_END,
    "endOfLimit(lease) ?? givenUp('engine'",
    "givenUp('engine'",
    ATTEMPT_ENDS,
  ),
  of(
    'a worker leaves the lane when its engine is sick',
    'apps/worker/src/engines/engine-slots.ts',
    '.filter((slot) => !this.free.has(slot) || !slot.isSick).length',
    '.length',
    SICK_WORKERS,
  ),
  of(
    'a worker leaves the lane when its disk takes nothing',
    WORKER,
    'this.parts.workFolder.problem === null ? this.slots.capacity : 0',
    'this.slots.capacity',
    SICK_WORKERS,
  ),
  of(
    'a worker leaves the lane when its claims fail',
    WORKER,
    'if (isTransient(error)) this.membership.claimFailed();',
    '',
    SICK_WORKERS,
  ),
  of(
    'a worker leaves the lane when its heartbeats fail',
    'apps/worker/src/pool-membership.ts',
    ' && performance.now() - this.reachedAtMs <= REACH_MS',
    '',
    ['apps/worker/src/pool-membership.spec'],
  ),
  of(
    'a worker that cannot begin hands back in bounds',
    'apps/worker/src/attempt/attempt.ts',
    ' && this.claimed.attempt <= LAST_FREE_ATTEMPT',
    '',
    ['apps/worker/src/attempt/attempt.int-spec'],
  ),
  of(
    'a worker removes no folder of a living one',
    'apps/worker/src/work-files/work-dir.ts',
    '!isAlive(Number(name))',
    'true',
    ['apps/worker/src/work-files/work-dir.spec'],
  ),
  without('one record per key', 'ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey', SUBMISSIONS),
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
 * @param {string[]} [tests]
 * @returns {Guard}
 */
function without(name, sql, tests = RULES) {
  return { name, sql, tests };
}
