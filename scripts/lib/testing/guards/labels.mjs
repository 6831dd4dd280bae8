import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const USE = 'libs/jobs/src/labels/label-use.store.ts';
const LIMITS = ['libs/jobs/src/proofs/label-limits.int-spec'];

/** Of what accounts allow the jobs of a label. @type {Guard[]} */
export const LABEL_GUARDS = [
  of('a label has no more live jobs than its rule allows', USE, 'OR u.live <= s.max_jobs OR', 'OR true OR', LIMITS),
  of(
    'a label costs no more a day than its rule allows',
    USE,
    'OR u.day_micros <= s.daily_micros OR',
    'OR true OR',
    LIMITS,
  ),
  of(
    'a label costs no more a month than its rule allows',
    USE,
    'OR u.month_micros <= s.monthly_micros',
    'OR true',
    LIMITS,
  ),
  of(
    'the rule of a value goes before that of every value',
    USE,
    'ORDER BY j.place, m.key, r.value NULLS LAST',
    'ORDER BY j.place, m.key, r.value NULLS FIRST',
    LIMITS,
  ),
  of(
    'the hold of a running job is not extended beyond the rules of its labels',
    USE,
    'least(run.own_limit_micros, run.held_micros + (SELECT micros FROM ${room}))',
    'least(run.own_limit_micros, (SELECT micros FROM ${room}) + 9000000)',
    LIMITS,
  ),
  of('an ended job does not count for its labels', USE, 'u.live - 1 AS live', 'u.live AS live', LIMITS),
];
