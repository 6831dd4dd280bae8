import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const STATE = 'libs/jobs/src/state/job-guards.store.ts';
const RETRY = 'libs/jobs/src/lifecycle/retry.store.ts';
const END = 'libs/jobs/src/lifecycle/end.store.ts';
const TESTS = ['libs/jobs/src/lifecycle/retry.int-spec'];

const BATCH_RETRIES = ['libs/jobs/src/batches/batch-retries.int-spec'];
const BATCH_RETRY_STORE = 'libs/jobs/src/batches/batch-retry.store.ts';
const BATCH_END_STORE = 'libs/jobs/src/batches/batch-end.store.ts';

/** Of failures that are tried again. @type {Guard[]} */
export const RETRY_GUARDS = [
  of('a job is tried again as often as its policy says', STATE, ' AND j.retries < j.retry_max', '', [...TESTS]),
  of('a policy names what is tried again', STATE, ' AND ${code} = ANY(j.retry_codes)', '', TESTS),
  of(
    'a retry begins before the deadline',
    STATE,
    '\n    AND now() + make_interval(secs => j.retry_pause_seconds) < j.deadline_at',
    '',
    TESTS,
  ),
  of(
    'a job that is to be canceled is not tried again',
    STATE,
    "j.status = 'running' AND j.retries",
    'j.retries',
    TESTS,
  ),
  of('a pause lasts its time', STATE, " = 'paused' AND j.retry_at <= now()`", " = 'paused'`", TESTS),
  of(
    'a retry is made under the guard of the end',
    RETRY,
    '${mayEnd(guard)} AND ${mayRetry(code)}',
    '${mayRetry(code)}',
    TESTS,
  ),
  of(
    'a graph that the engine refused is not tried again',
    RETRY,
    "  'engine_lost',\n",
    "  'engine_lost',\n  'engine_failed',\n",
    TESTS,
  ),
  of(
    'lost engine time is billed once',
    RETRY,
    "SETTLEMENT[ending.ending] === 'waived' ? Prisma.sql`j.lost_engine_ms` : Prisma.sql`0`",
    'Prisma.sql`j.lost_engine_ms`',
    TESTS,
  ),
  of(
    'a retry withdraws the outputs of its own attempt alone',
    END,
    'withdraw_outputs_after(j.id, j.attempt - 1)',
    'withdraw_outputs(j.id)',
    TESTS,
  ),
  of(
    'a cancel ends a pause',
    'libs/jobs/src/lifecycle/cancel.store.ts',
    'THEN least(j.retry_at, now()) END',
    'THEN j.retry_at END',
    TESTS,
  ),
  without(
    'outputs that were paid for stay',
    `DO $$ DECLARE source text := pg_get_functiondef('withdraw_outputs'::regproc);
    BEGIN ASSERT strpos(source, 'AND t.billed_ms > 0') > 0; EXECUTE replace(source, 'AND t.billed_ms > 0', 'AND false'); END $$`,
    TESTS,
  ),
];

/** Of batches whose jobs are tried again, and their ends. @type {Guard[]} */
export const BATCH_GUARDS = [
  of(
    'a place in a batch is given up once',
    'libs/jobs/src/batches/batch-retries.service.ts',
    'if ((await this.store.vacate(tx, batchId, ids)) !== ids.length)',
    'if ((await this.store.vacate(tx, batchId, ids)) < 0)',
    BATCH_RETRIES,
  ),
  of('a batch that is being canceled is not tried again', BATCH_RETRY_STORE, ' AND NOT b.canceling', '', BATCH_RETRIES),
  of(
    'the end of a batch belongs to the run that was read',
    BATCH_END_STORE,
    ' AND b.retries = ready.retries',
    '',
    BATCH_RETRIES,
  ),
  of(
    'the end of a batch is recorded once',
    BATCH_END_STORE,
    'b.retries = ready.retries AND b.completed_at IS NULL',
    'b.retries = ready.retries',
    BATCH_RETRIES,
  ),
  without('a job that has ended only gives up its place', 'DROP TRIGGER jobs_terminal_trigger ON jobs', [
    'libs/jobs/src/batches/batch-retries.int-spec',
    'libs/jobs/src/lifecycle/lifecycle.int-spec',
  ]),
];
