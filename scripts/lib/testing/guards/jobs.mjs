import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const STATE = 'libs/jobs/src/state/job-guards.store.ts';
const CLAIM = 'libs/jobs/src/lifecycle/claim.store.ts';
const SUBMISSION = 'libs/jobs/src/submission/submission.store.ts';
const JOIN = 'libs/jobs/src/rotation/join.store.ts';
const OUTPUT = 'libs/jobs/src/outputs/output.store.ts';
const LAST_OUTPUT = 'libs/jobs/src/outputs/last-output.store.ts';
const OUTPUT_ASSET = 'libs/assets/src/records/output-asset.store.ts';
const LIFETIME = 'libs/jobs/src/state/lifetime.store.ts';
const KEYS = 'libs/database/src/idempotency-key.store.ts';
const STORAGE = 'libs/assets/src/records/storage.store.ts';
const DRAFTS = 'libs/jobs/src/submission/drafts.store.ts';
const GROUPS = 'libs/jobs/src/submission/submission-groups.ts';
const HOLD = 'libs/billing/src/ledger/hold.store.ts';
const WARM_CLAIMS = 'libs/jobs/src/dispatch/warm-claim.store.ts';
const DISPATCHER = 'libs/jobs/src/dispatch/dispatcher.ts';
const WARM = ['libs/jobs/src/dispatch/warm-claims.int-spec'];
const OUTPUTS = ['libs/jobs/src/outputs/output.int-spec'];
const LOCK_ORDER = ['libs/jobs/src/proofs/lock-order.int-spec'];
const RULES = ['libs/jobs/src/lifecycle/lifecycle.int-spec'];
const ROW_RULES = ['libs/jobs/src/state/job-rules.int-spec'];
const GROUP_STATEMENT = ['libs/jobs/src/submission/group.store.int-spec'];
const GROUP_ROWS = ['libs/jobs/src/submission/submission-groups.int-spec'];
const GROUP_RULES = ['libs/jobs/src/submission/submission-groups.spec'];
const SUBMISSIONS = ['libs/jobs/src/submission/submission.store.int-spec'];

/** Of jobs: their states, their submission, their outputs. @type {Guard[]} */
export const JOB_GUARDS = [
  of('a job expires before it is gone', LIFETIME, 'LATEST_END = 0.9', 'LATEST_END = 1', [
    'libs/jobs/src/proofs/label-limits.int-spec',
  ]),
  of(
    'the fence compares the attempt',
    STATE,
    'AND j.attempt = ${attempt} AND j.lease_token',
    'AND j.lease_token',
    RULES,
  ),
  of(
    'the fence compares the lease token',
    STATE,
    "AND j.lease_token = ${leaseToken}::uuid\n    AND ${deliveryOfOne} = 'leased'`",
    "AND ${deliveryOfOne} = 'leased'`",
    RULES,
  ),
  of(
    'only a lease that ran out is taken back',
    STATE,
    "${deliveryOfOne} = 'leased' AND j.lease_expires_at < now()`",
    "${deliveryOfOne} = 'leased'`",
    RULES,
  ),
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
  of('a claim takes the next attempt', CLAIM, 'AND j.attempt = ${attempt} - 1 AND', 'AND', RULES),
  of('a claim takes what was dispatched', CLAIM, " - 1 AND ${deliveryOfOne} = 'dispatched'", ' - 1', RULES),
  of(
    'a claim respects the deadline',
    CLAIM,
    "IN ('queued', 'running') AND j.deadline_at > now()",
    "IN ('queued', 'running')",
    RULES,
  ),
  of(
    'a claim leaves a job that is to be canceled',
    CLAIM,
    "AND j.status IN ('queued', 'running') AND j.deadline_at",
    'AND j.deadline_at',
    RULES,
  ),
  of(
    'attempts are bounded',
    STATE,
    "j.status = 'running' AND j.attempt < j.max_attempts`",
    "j.status = 'running'`",
    RULES,
  ),
  of(
    'a cancel ends only what has not started',
    STATE,
    "${isInScope(guard.scope)} AND j.status = 'queued'`",
    '${isInScope(guard.scope)}`',
    RULES,
  ),
  of(
    'a worker cancels only when asked',
    STATE,
    "${holdsFence(guard.fence)} AND j.status = 'canceling'`",
    '${holdsFence(guard.fence)}`',
    RULES,
  ),
  of('only what is overdue expires', STATE, ' AND j.deadline_at <= now()`', '`', RULES),
  of('a job does not expire without its attempt', STATE, '${seesItsAttempt} AND ', '', [
    'libs/jobs/src/proofs/stale-snapshots.int-spec',
  ]),
  of(
    'a job to be canceled is not ended under its worker',
    STATE,
    "j.status = 'canceling' AND j.delivery <> 'leased'`",
    "j.status = 'canceling'`",
    RULES,
  ),
  of(
    'what can be tried again is not given up',
    STATE,
    "${leaseOfOneIsOver(guard.jobId)} AND (j.status = 'canceling' OR j.attempt >= j.max_attempts)`",
    '${leaseOfOneIsOver(guard.jobId)}`',
    RULES,
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
  of('an output needs the fence', OUTPUT, '${holdsFence(fence)} FOR', 'j.id = ${fence.jobId}::uuid FOR', RULES),
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
    '\n      WHERE o.asset_id = (SELECT asset_id FROM ${place}) OR refuse(${OUTPUT_OVERTAKEN})',
    '',
    OUTPUTS,
  ),
  of('a job does not end without its last output', LAST_OUTPUT, ' = 1 OR refuse', ' >= 0 OR refuse', OUTPUTS),
  of('a job has so many outputs at most, the last one counted', LAST_OUTPUT, ' < ${maxOutputs}', ' >= 0', OUTPUTS),
  of("an output is of its account's bytes", OUTPUT_ASSET, ' AND b.account_id = j.account_id', '', OUTPUTS),
  of('the same output keeps its asset', OUTPUT_ASSET, 'WHERE NOT EXISTS (SELECT FROM ${same})', '', OUTPUTS),
  of('an asset is kept for the same bytes alone', OUTPUT_ASSET, ' AND a.hash = b.hash AND', ' AND', OUTPUTS),
  of(
    'a large graph is written before the locks',
    SUBMISSION,
    'joinRotationPart(draft, id, graph)',
    'joinRotationPart(draft, id, room)',
    LOCK_ORDER,
  ),
  of(
    'a queue has an end',
    JOIN,
    '      WHERE q.waiting + ${jobs} <= ${queueLimit} OR refuse(${QUEUE_FULL})',
    '',
    LOCK_ORDER,
  ),
  of('a key is used once', KEYS, 'WHERE k.expires_at <= now() OR refuse(${KEY_REUSED})', '', SUBMISSIONS),
  of(
    'a hold is covered',
    HOLD,
    'WHERE b.available_micros >= ${hold.amountMicros} OR refuse(${INSUFFICIENT_CREDITS})',
    '',
    LOCK_ORDER,
  ),
  of(
    'a queue has an end for groups, too',
    JOIN,
    ' WHERE ahead < queue_limit OR refuse(${QUEUE_FULL})',
    '',
    GROUP_STATEMENT,
  ),
  of('full storage refuses a group', STORAGE, '< a.storage_bytes OR refuse(${STORAGE_FULL})', '>= 0', GROUP_STATEMENT),
  of('a group claims its keys in their order', KEYS, ' ORDER BY r.account_id, r.idempotency_key', '', GROUP_STATEMENT),
  of('a group takes its places in their order', JOIN, '    ORDER BY p.id, a.account_id\n', '', GROUP_STATEMENT),
  of('ids of a group are in the order of arrival', DRAFTS, 'OVER (ORDER BY id)', 'OVER ()', GROUP_ROWS),
  of(
    'a group waits for a locked row no longer than it may',
    DRAFTS,
    "set_config('lock_timeout', ${`${lockWaitMs}ms`}, true)",
    '${`${lockWaitMs}ms`}::text',
    GROUP_ROWS,
  ),
  of('an account is in one group at a time', GROUPS, 'new Set(this.busy)', 'new Set<string>()', GROUP_RULES),
  of('a key is in a group once', GROUPS, ' || (key !== null && keys.has(key))', '', GROUP_RULES),
  of(
    'a group whose outcome is not known is not recorded again',
    GROUPS,
    'if (isUndone(error)) return this.settleApart',
    'return this.settleApart',
    GROUP_RULES,
  ),
  of(
    'an account that was refused goes alone',
    GROUPS,
    'if (isUndone(error) && !isTransient(error)) setApart(REFUSED_APART_MS);',
    '',
    GROUP_RULES,
  ),
  without('one record per key', 'ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey', SUBMISSIONS),
  without(
    'one hold and one end per job',
    'ALTER TABLE ledger_transactions DROP CONSTRAINT IF EXISTS ledger_transactions_cause_key; DROP INDEX IF EXISTS ledger_transactions_cause_key',
    RULES,
  ),
  without('one row per attempt', 'ALTER TABLE job_attempts DROP CONSTRAINT job_attempts_pkey', RULES),
  without('nothing leaves a terminal state', 'DROP TRIGGER jobs_terminal_trigger ON jobs', RULES),
  without('attempt and number only grow', 'DROP TRIGGER jobs_forward_trigger ON jobs', RULES),
  without('history is appended to', 'DROP TRIGGER job_transitions_append_trigger ON job_transitions', RULES),
  without('a graph stays as submitted', 'DROP TRIGGER job_graphs_append_trigger ON job_graphs', RULES),
  without('only moves of the table', 'ALTER TABLE job_transitions DROP CONSTRAINT job_transitions_rules_check', RULES),
  without('what holds of every job', 'ALTER TABLE jobs DROP CONSTRAINT jobs_rules_check', ROW_RULES),
  without('no balance below nothing', 'ALTER TABLE balances DROP CONSTRAINT balances_never_negative_check', RULES),
  without(
    'no counter below nothing',
    'ALTER TABLE account_queues DROP CONSTRAINT account_queues_counters_check',
    RULES,
  ),
];
