import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const STORE = 'libs/jobs/src/reuse/reuse.store.ts';
const KEY = 'libs/jobs/src/reuse/reuse-key.ts';
const TESTS = ['libs/jobs/src/reuse/reuse.int-spec'];
const KEY_TESTS = ['libs/jobs/src/reuse/reuse-key.spec'];

/** Of jobs that are answered with earlier outputs. @type {Guard[]} */
export const REUSE_GUARDS = [
  of(
    'an earlier job of another account is not found',
    STORE,
    'j.account_id = ${accountId}::uuid AND ${isReusable} AND',
    '${isReusable} AND',
    TESTS,
  ),
  of('only what has succeeded is reused', STORE, "j.status = 'succeeded' AND j.expires_at", 'j.expires_at', TESTS),
  of('nothing past its retention is reused', STORE, ' AND j.expires_at > now()`', '`', TESTS),
  of('an earlier job stays until its outputs are the new ones, too', STORE, ' FOR KEY SHARE OF j', '', TESTS),
  of('blobs that are swept are not reused', STORE, 'b.orphaned_at IS NULL AND b.lost_at', 'b.lost_at', TESTS),
  of('damaged outputs are not reused', STORE, ' AND b.lost_at IS NULL AND b.damaged_at IS NULL', '', TESTS),
  of('blobs stay until the new assets refer to them', STORE, '\n    ORDER BY b.hash FOR NO KEY UPDATE', '', TESTS),
  of(
    'an earlier job that is gone is noticed',
    STORE,
    ') BETWEEN 1 AND ${REUSE_OUTPUT_LIMIT}) OR refuse',
    ') >= 0) OR refuse',
    TESTS,
  ),
  of('each account and each sub-key has keys of its own', KEY, '[scopeText(scope), poolId', '[poolId', KEY_TESTS),
  of('each version of a catalogue has keys of its own', KEY, 'catalogueDigest, VERSION]', 'VERSION]', KEY_TESTS),
  of('files count by their content', KEY, '    hash,\n', '', KEY_TESTS),
  of(
    'undeclared nodes are not reused',
    'libs/workflow/src/graph/exact.ts',
    'deterministic !== true',
    'deterministic === false',
    ['libs/workflow/src/graph/exact.spec'],
  ),
];
