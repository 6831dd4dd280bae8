import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const USE = 'libs/jobs/src/labels/label-use.store.ts';
const CAP = 'libs/jobs/src/spend/spend-cap.store.ts';
const ANOMALY = 'libs/billing/src/usage/spend-anomaly.store.ts';
const CAPS = ['libs/jobs/src/proofs/spend-caps.int-spec'];
const KEY_CAPS = ['libs/jobs/src/proofs/key-caps.int-spec'];
const LIMITS = ['libs/jobs/src/proofs/label-limits.int-spec'];
const RULE = 'libs/jobs/src/labels/label-rule.store.ts';
const MAIL = 'libs/jobs/src/spend/spend-mail.store.ts';
const ROLES = ['apps/api/src/members/roles.int-spec'];
const STALE = ['libs/jobs/src/proofs/stale-snapshots.int-spec'];
const CHANGED = ['libs/jobs/src/proofs/changed-caps.int-spec'];
const MAILS = ['libs/jobs/src/spend/mail-spend-warnings.int-spec'];

/** Of what accounts allow the jobs of a label, of a key, and all of their jobs. @type {Guard[]} */
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
    'ORDER BY j.place, m.label, m.value, r.value NULLS LAST',
    'ORDER BY j.place, m.label, m.value, r.value NULLS FIRST',
    LIMITS,
  ),
  of(
    'the hold of a running job is not extended beyond the rules of its labels',
    USE,
    'least(run.own_limit_micros, run.held_micros + (SELECT micros FROM ${room}))',
    'least(run.own_limit_micros, (SELECT micros FROM ${room}) + 9000000)',
    LIMITS,
  ),
  of(
    'jobs count for the cap of their account',
    USE,
    "UNION ALL SELECT ${ACCOUNT_LABEL}::text, '', ${ACCOUNT_LABEL}::text, true",
    '',
    CAPS,
  ),
  of('a cap that is used up refuses jobs', USE, 'OR NOT u.day_stopped OR', 'OR true OR', CAPS),
  of(
    'a cap that lets jobs finish does not end them',
    USE,
    "CASE WHEN daily_at_cap = 'finish' THEN NULL ELSE day_room END",
    'day_room',
    CAPS,
  ),
  of(
    'a cap with stop is used up when a run has used all that it leaves',
    USE,
    "coalesce(${isUsedUp('daily_at_cap', 'day_room')}, false)",
    'false',
    CAPS,
  ),
  of(
    'a cap counts what jobs hold that were there before it',
    CAP,
    'SET live = u.live + excluded.live, held_micros = u.held_micros + excluded.held_micros',
    'SET live = u.live',
    CHANGED,
  ),
  of(
    'a cap of a key is of a key of the account',
    CAP,
    ' AND k.account_id = ${accountId}::uuid`);\n    return row?.id',
    '`);\n    return row?.id',
    CAPS,
  ),
  of('a cap that is set on a successor is that of its line', CAP, '(spend_keys_of(k.id))[1] AS id', 'k.id', KEY_CAPS),
  of(
    'a key gives those that it makes no allowance of their own',
    'libs/accounts/src/key-parent.ts',
    "acting === null || grantable.has('credits:write')",
    'acting !== undefined || grantable.size > 0',
    ['apps/api/src/spend/key-caps.int-spec'],
  ),
  of(
    'a key under a cap gets no key beyond it by rotation',
    'libs/accounts/src/api-keys.service.ts',
    '      await this.assertWithinCaps(tx, acting, issuer, old);\n',
    '',
    ['apps/api/src/spend/key-caps.int-spec'],
  ),
  changed(
    'a key that is rotated has no new allowance',
    'inherit_spend_keys',
    'coalesce(NEW.spend_keys, ARRAY[NEW.id])',
    'ARRAY[NEW.rotated_to]',
    KEY_CAPS,
  ),
  changed(
    'a job that ends counts no longer for the key that made its own',
    'limited_value',
    "starts_with(label, '@key=')",
    'false',
    KEY_CAPS,
  ),
  of(
    'an hour of unusual spend is noted once',
    ANOMALY,
    'AND (b.anomaly_hour IS NULL OR b.anomaly_hour < ${hour}::timestamptz) RETURNING',
    'RETURNING',
    ['libs/billing/src/usage/spend-anomalies.int-spec'],
  ),
  of(
    'a warning of today is not forgotten',
    RULE,
    "AND (u.day_warned > 0 AND ${isToday('u.warned_on')}) IS NOT TRUE",
    '',
    CHANGED,
  ),
  of(
    'a warning of this month is not forgotten',
    RULE,
    "AND (u.month_warned > 0 AND ${inThisMonth('u.warned_on')}) IS NOT TRUE",
    '',
    CHANGED,
  ),
  of('a warning that is to be mailed is not forgotten', RULE, 'AND u.day_mail = 0', '', CHANGED),
  of(
    'that a cap was used up today is not forgotten',
    RULE,
    "AND (${isToday('u.day_stopped_on')}) IS NOT TRUE",
    '',
    CHANGED,
  ),
  of(
    'that a cap was used up this month is not forgotten',
    RULE,
    "AND (${inThisMonth('u.month_stopped_on')}) IS NOT TRUE",
    '',
    CHANGED,
  ),
  of(
    'what another cap counts stays when one is deleted',
    CAP,
    'AND (r.value = u.value OR r.value IS NULL))`);\n  }\n\n  /** Note that a submission',
    'AND false)`);\n  }\n\n  /** Note that a submission',
    CHANGED,
  ),
  of(
    'a cap of each key changes nothing of a key with a cap of its own',
    RULE,
    'r.label = u.label AND r.value = u.value))`',
    'false))`',
    CHANGED,
  ),
  of('a mail names no cap that was changed', RULE, 'day_mail = 0, month_mail = 0, ', '', MAILS),
  of('an account is mailed of its caps once in ten minutes', MAIL, 'IS NOT FALSE', 'IS NOT NULL OR true', MAILS),
  of('a warning of days ago is not mailed', MAIL, ' >= ${since}', ' IS NOT NULL AND ${since} IS NOT NULL', MAILS),
  of(
    'a warning of a month is mailed while it goes on',
    MAIL,
    "least(${YESTERDAY}, date_trunc('month', ${today}::timestamp)::date)",
    '${YESTERDAY}',
    MAILS,
  ),
  of('a warning is taken once', MAIL, 'ORDER BY u.label, u.value FOR UPDATE', 'ORDER BY u.label, u.value', MAILS),
  of(
    'a key that only buys credits sets no cap',
    'apps/api/src/spend/cap-setters.ts',
    'memberId !== undefined && sessionId !== undefined',
    'memberId !== null',
    ROLES,
  ),
  changed('an ended job does not count for its labels', 'leave_labels', 'u.live - 1', 'u.live', LIMITS),
  changed(
    'a count of labels keeps no job from its end',
    'leave_labels',
    'greatest(u.held_micros - held, 0)',
    'u.held_micros - held - 1',
    LIMITS,
  ),
  changed(
    'an extended hold counts in a cap that is new',
    'extend_label_hold',
    'u.held_micros + added',
    'u.held_micros',
    STALE,
  ),
  of('counts of live jobs stay when their label is forgotten', RULE, ' AND live = 0 LIMIT', ' LIMIT', LIMITS),
];

/**
 * A guard in a function of the database.
 *
 * @param {string} name
 * @param {string} routine
 * @param {string} guard
 * @param {string} replacement
 * @param {string[]} tests
 */
function changed(name, routine, guard, replacement, tests) {
  const text = (/** @type {string} */ sql) => `$guard$${sql}$guard$`;
  const definition = `pg_get_functiondef('${routine}'::regproc)`;
  return without(
    name,
    `DO $$ BEGIN ASSERT strpos(${definition}, ${text(guard)}) > 0; EXECUTE replace(${definition}, ${text(guard)}, ${text(replacement)}); END $$`,
    tests,
  );
}
