import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const RUNNER = 'apps/maintenance/src/loop-runner.ts';
const DISPATCHER = 'libs/jobs/src/dispatch/dispatcher.ts';
const LOCKED = 'libs/jobs/src/dispatch/locked-accounts.ts';
const SWEEP = 'libs/platform/src/sweeps/item-sweep.ts';
const DUE_JOBS = 'libs/jobs/src/lifecycle/due-jobs.store.ts';
const RUNS = ['apps/maintenance/src/loop-runner.spec'];
const DISPATCHES = ['libs/jobs/src/dispatch/dispatcher.int-spec'];
const LOCKS = ['libs/jobs/src/dispatch/locked-accounts.spec'];
const SWEEPS = ['libs/platform/src/sweeps/item-sweep.spec'];
const JOB_SWEEPS = ['libs/jobs/src/lifecycle/job-sweep.int-spec'];
const HALVING = 'libs/platform/src/sweeps/halving.ts';
const JOB_BATCHES = ['libs/jobs/src/lifecycle/job-batches.int-spec'];
const CREDIT_SWEEPS = ['libs/billing/src/credits/sweeps.int-spec'];
const BYTE_SWEEPS = ['libs/assets/src/retention/poison.int-spec'];

/** Of what runs again and again: loops, sweeps, dispatch. @type {Guard[]} */
export const LOOP_GUARDS = [
  of('a loop pauses unless it did real work', RUNNER, 'if (count !== null && count > 0) nextMs', 'nextMs', RUNS),
  of('a loop that fails backs off', RUNNER, ' + backoffMs(this.failures, FAILURE_BASE_MS, FAILURE_CAP_MS)', '', RUNS),
  of(
    'a loop that keeps failing logs once in a while',
    'apps/maintenance/src/failure-log.ts',
    'if (now - this.loggedAtMs < LOG_EVERY_MS) return;',
    '',
    RUNS,
  ),
  of(
    'what started and ended is counted by the process that moves the checkpoint',
    'libs/jobs/src/objectives/job-move.store.ts',
    ' AND at = ${from.at}::timestamptz AND job_id = ${from.jobId}::uuid AND seq = ${from.seq}::int',
    '',
    ['libs/jobs/src/objectives/count-jobs.int-spec'],
  ),
  of(
    'what the lane does not take is no work done',
    DISPATCHER,
    "return state === 'held' ? this.lanes.addAgain(poolId, job, period) : this.lanes.add(poolId, job);",
    "return this.send(job, state === 'held' ? this.lanes.addAgain(poolId, job, period) : this.lanes.add(poolId, job));",
    DISPATCHES,
  ),
  of(
    'what stays unclaimed is put back once in a while',
    DISPATCHER,
    'if (offeredBefore?.has(offer) === true) offered.add(offer);\n      else if',
    'if',
    DISPATCHES,
  ),
  of('an account that was skipped has its turn next', LOCKED, 'this.skips >= this.skipsBeforeWait', 'false', LOCKS),
  of(
    'an account that stays locked is waited for ever more seldom',
    LOCKED,
    'Math.min(this.skipsBeforeWait * 2, MAX_SKIPS)',
    '1',
    LOCKS,
  ),
  of('an item that fails does not end its sweep', SWEEP, 'errors.push(error);', 'throw error;', SWEEPS),
  of('an item that failed rests', SWEEP, 'errors.push(error);\n      this.rest(key);', 'errors.push(error);', SWEEPS),
  of('a failed item is reported', SWEEP, 'report?.failed(key, error);', '', SWEEPS),
  of('a sweep goes past a page that fails', SWEEP, 'pages < PAGES_WITHOUT_SUCCESS', 'pages < 1', SWEEPS),
  of(
    'a sweep goes on behind its last page',
    SWEEP,
    'this.steps.page(this.after, limit)',
    'this.steps.page(null, limit)',
    SWEEPS,
  ),
  of(
    'the sweep of lost, overdue jobs goes page by page',
    DUE_JOBS,
    '> (${since}::timestamptz, ${id}::uuid)',
    'IS NOT NULL',
    JOB_SWEEPS,
  ),
  of(
    'the sweep of jobs to be canceled goes page by page',
    DUE_JOBS,
    " AND j.status = 'canceling' AND j.id > ${after ?? BEFORE_ALL}::uuid",
    " AND j.status = 'canceling'",
    JOB_SWEEPS,
  ),
  of(
    'the sweep of overtime goes page by page',
    DUE_JOBS,
    'FROM overtime WHERE id > ${after ?? BEFORE_ALL}::uuid',
    'FROM overtime',
    JOB_SWEEPS,
  ),
  of(
    'the sweep of stopped jobs goes page by page',
    DUE_JOBS,
    'FROM stopped WHERE id > ${after ?? BEFORE_ALL}::uuid',
    'FROM stopped',
    JOB_BATCHES,
  ),
  of(
    'a Prometheus that does not answer gets a pause',
    'apps/api/src/status/status.service.ts',
    '3 * PROMETHEUS_TIMEOUT_MS',
    'PROMETHEUS_TIMEOUT_MS',
    ['apps/api/src/status/status.int-spec'],
  ),
  of('a batch that fails is halved', HALVING, 'if (items.length === 1) {', 'if (items.length > 0) {', JOB_BATCHES),
  of('an outage is blamed on no item', HALVING, 'if (batch.isOutage(error)) throw error;', '', JOB_BATCHES),
  of(
    'the sweep of credits goes page by page',
    'libs/billing/src/credits/lot.store.ts',
    '(account_id > ${afterAccountId}::uuid) IS NOT FALSE',
    'true',
    CREDIT_SWEEPS,
  ),
  of(
    'the sweep of owed credits goes page by page',
    'libs/billing/src/payments/top-up.store.ts',
    '(t.id > ${afterId}::uuid) IS NOT FALSE',
    'true',
    CREDIT_SWEEPS,
  ),
  of(
    'the sweep of uploads goes page by page',
    'libs/assets/src/upload/resumable-upload.store.ts',
    '(u.id > ${afterId}::uuid) IS NOT FALSE',
    'true',
    BYTE_SWEEPS,
  ),
  of(
    'the sweep of blobs goes page by page',
    'libs/assets/src/records/blob-record.store.ts',
    'AND (o.orphaned_at, o.account_id, o.hash) > (${since}::timestamptz, ${accountId}::uuid, ${hash})',
    '',
    BYTE_SWEEPS,
  ),
  of(
    'the sweep of networks goes page by page',
    'libs/accounts/src/account.store.ts',
    'AND (id > ${afterId}::uuid) IS NOT FALSE',
    '',
    ['libs/jobs/src/rotation/sweep-demo-networks.int-spec'],
  ),
  of(
    'open uploads in a bucket are listed to the end',
    'libs/assets/src/store/s3/s3-open-uploads.ts',
    'page.IsTruncated === true ? { KeyMarker, UploadIdMarker } : undefined',
    'undefined',
    ['libs/assets/src/store/s3/s3-open-uploads.spec'],
  ),
  of('one statement at a time gives turns beside its own work', DISPATCHER, ' || this.offered.has(poolId)', '', [
    'libs/jobs/src/dispatch/dispatch-with.int-spec',
  ]),
  of(
    'what waits behind the turns of a submission is dispatched, too',
    DISPATCHER,
    'if (mayBeNew || !leavesNobody(last, room)) this',
    'if (mayBeNew) this',
    ['libs/jobs/src/dispatch/dispatch-with.int-spec'],
  ),
  of(
    'an attempt waits for a busy worker for a bounded time',
    'libs/jobs/src/dispatch/warm-claim.store.ts',
    'WHERE offered.dispatched_at > now() - make_interval(secs => ${waitSeconds})',
    'WHERE offered.dispatched_at IS NOT NULL AND ${waitSeconds} > 0',
    ['libs/jobs/src/dispatch/warm-claims.int-spec'],
  ),
];
