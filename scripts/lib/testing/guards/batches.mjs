import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const RETRIES = ['libs/jobs/src/batches/batch-retries.int-spec'];
const RETRY_STORE = 'libs/jobs/src/batches/batch-retry.store.ts';
const END_STORE = 'libs/jobs/src/batches/batch-end.store.ts';

/** Of batches whose jobs are tried again, and their ends. @type {Guard[]} */
export const BATCH_GUARDS = [
  of(
    'a place in a batch is given up once',
    'libs/jobs/src/batches/batch-retries.service.ts',
    'if ((await this.store.vacate(tx, batchId, ids)) !== ids.length)',
    'if ((await this.store.vacate(tx, batchId, ids)) < 0)',
    RETRIES,
  ),
  of('a batch that is being canceled is not tried again', RETRY_STORE, ' AND NOT b.canceling', '', RETRIES),
  of('the end of a batch belongs to the run that was read', END_STORE, ' AND b.retries = ready.retries', '', RETRIES),
  of(
    'the end of a batch is recorded once',
    END_STORE,
    'b.retries = ready.retries AND b.completed_at IS NULL',
    'b.retries = ready.retries',
    RETRIES,
  ),
  without('a job that has ended only gives up its place', 'DROP TRIGGER jobs_terminal_trigger ON jobs', [
    'libs/jobs/src/batches/batch-retries.int-spec',
    'libs/jobs/src/lifecycle/lifecycle.int-spec',
  ]),
];
