import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../system/index.mjs';
import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const ROTATION = 'libs/jobs/src/rotation/';
const JOIN = `${ROTATION}join.store.ts`;
const TURNS = [`${ROTATION}turn.int-spec`];
const WIDE_TURNS = [`${ROTATION}turns.int-spec`];
const HEAD = [`${ROTATION}head.int-spec`];
const SQL = readFileSync(join(ROOT, ROTATION, 'dispatch-turns.sql'), 'utf8');

/**
 * A guard in the function that gives turns.
 *
 * @param {string} name
 * @param {string} guard everywhere that it occurs
 * @param {string} broken
 * @param {string[]} tests
 * @throws when the function does not have it
 */
function changed(name, guard, broken, tests) {
  if (!SQL.includes(guard)) throw new Error(`The guard «${name}» is not in dispatch-turns.sql any more.`);
  const [from, to] = [guard, broken].map((text) => `'${text.replaceAll("'", "''")}'`);
  const sql = `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('dispatch_turns'::regproc), ${from}, ${to}); END $$`;
  return without(name, sql, tests);
}

/** Of the turns of accounts. @type {Guard[]} */
export const TURN_GUARDS = [
  changed('a lane is filled to its room', 'in_flight_now < room', 'in_flight_now IS NOT NULL', TURNS),
  changed('a statement fills a lane no further than to its room', 'OR in_flight_now >= room', '', WIDE_TURNS),
  without(
    'one process dispatches for a pool at a time',
    `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('dispatch_turn'::regproc),
      'NOT pg_try_advisory_xact_lock(hashtextextended(''dispatch:'' || pool, 0))', 'false'); END $$`,
    TURNS,
  ),
  changed('an account runs no more than it may', '.eligible', '.pool_id IS NOT NULL', TURNS),
  changed(
    'a turn skips an account that is locked',
    'LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) q',
    'LIMIT 1 FOR NO KEY UPDATE) q',
    TURNS,
  ),
  changed(
    'a turn passes over an account of which all waiting jobs are locked',
    'CONTINUE WHEN n < most;',
    'EXIT WHEN n < most;',
    WIDE_TURNS,
  ),
  of(
    'a job leaves a queue that is newer than the statement of its end',
    `${ROTATION}leave.store.ts`,
    " OR leave_queue(job.pool_id, job.account_id, job.from_delivery = 'waiting') IS NOT NULL",
    ' OR true',
    ['libs/jobs/src/proofs/stale-snapshots.int-spec'],
  ),
  changed(
    'a turn waits for an account no longer than it may',
    "set_config('lock_timeout'",
    "concat('lock_timeout'",
    TURNS,
  ),
  of(
    'the accounts behind a watermark have turns, too',
    'libs/jobs/src/dispatch/watermark-cache.ts',
    ' || now >= this.staleAt',
    '',
    ['libs/jobs/src/dispatch/watermark-cache.spec'],
  ),
  of(
    'time at the running limit earns no credit',
    `${ROTATION}rejoined-pass.store.ts`,
    'CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, p.virtual_time) END',
    'q.pass',
    TURNS,
  ),
  of(
    'an account that had nothing waiting comes back at virtual time',
    JOIN,
    'CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, excluded.pass) END',
    'q.pass',
    TURNS,
  ),
  changed('accounts take turns', ', pass = q.pass + stride / q.weight', '', TURNS),
  changed('virtual time follows the turns', 'virtual_time = reached WHERE', 'virtual_time = 0 WHERE', TURNS),
  without(
    'an account has turns while it has jobs waiting',
    'DROP TRIGGER account_queues_turn_trigger ON account_queues',
    TURNS,
  ),
  without('an account that is new has turns', 'DROP TRIGGER account_queues_row_trigger ON account_queues', TURNS),
  of(
    'the first job of an account has its turn at once',
    'libs/jobs/src/dispatch/dispatcher.ts',
    'const mayBeNew = ahead === 0',
    'const mayBeNew = ahead < 0',
    ['libs/jobs/src/dispatch/dispatch-with.int-spec'],
  ),
  changed('a job that is locked stays behind no head', 'head_id = new_head', 'head_id = job_id', HEAD),
  of('a job that comes is behind no head', JOIN, 'least(q.head_id, excluded.head_id)', 'q.head_id', HEAD),
  without(
    'a job that comes back is behind no head',
    `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('follow_turn'::regproc), 'NEW.head_id := NULL;', ''); END $$`,
    HEAD,
  ),
  of(
    'a job that changes its pool is behind no head',
    'libs/jobs/src/retired/retired-pool.store.ts',
    'head_id = CASE WHEN q.pool_id <> p.id THEN q.head_id END',
    'head_id = q.head_id',
    ['libs/jobs/src/retired/retired-jobs.int-spec'],
  ),
];
