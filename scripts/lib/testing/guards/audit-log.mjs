import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const CHAIN = 'libs/accounts/src/audit-chain';
const FAULTS = `${CHAIN}/segment-faults.ts`;
const SEALS = [`${CHAIN}/seal-audit-log.int-spec`];
const AUDITS = [`${CHAIN}/audit-chain.auditor.int-spec`];
const EXPORTS = [`${CHAIN}/export-audit-log.int-spec`];

/**
 * A part of a function of the database is taken out of it.
 *
 * @param {string} name
 * @param {string} signature
 * @param {string} part
 * @param {string[]} tests
 * @returns {Guard}
 */
function withoutPart(name, signature, part, tests) {
  const text = part.replaceAll("'", "''");
  const sql = `DO $do$ BEGIN EXECUTE replace(pg_get_functiondef('${signature}'::regprocedure), '${text}', ''); END $do$`;
  return without(name, sql, tests);
}

/** Of the audit log: its segments, what verifies them, and their objects. @type {Guard[]} */
export const AUDIT_LOG_GUARDS = [
  without(
    'a segment of the audit log stays as it was sealed',
    'DROP TRIGGER audit_segments_append_trigger ON audit_segments',
    SEALS,
  ),
  without('a segment of the audit log is kept', 'DROP TRIGGER audit_segments_keep_trigger ON audit_segments', SEALS),
  without(
    'an entry of the audit log is not appended as sealed',
    'DROP TRIGGER audit_log_unsealed_trigger ON audit_log',
    SEALS,
  ),
  withoutPart(
    'who seals the audit log is alone',
    'seal_audit_log(integer, integer)',
    'LOCK TABLE public.audit_segments IN SHARE ROW EXCLUSIVE MODE;',
    SEALS,
  ),
  withoutPart(
    'an entry of the audit log that is being struck out is sealed later',
    'seal_audit_log(integer, integer)',
    ' FOR UPDATE SKIP LOCKED',
    SEALS,
  ),
  withoutPart(
    'the newest segment of the audit log stays',
    'sweep_audit_log(bigint, integer)',
    'OR NOT EXISTS (SELECT FROM public.audit_segments WHERE no > oldest.no)',
    SEALS,
  ),
  withoutPart(
    'the salt of an entry of the audit log goes with what it said',
    'redact_audit_log(uuid, text[], uuid, integer)',
    ',\n        salt = NULL',
    EXPORTS,
  ),
  of(
    'the facts of an entry of the audit log are verified',
    FAULTS,
    '!entryDigestOf(facts, contentDigest).equals(digest)',
    'false',
    AUDITS,
  ),
  of(
    'what an entry of the audit log says is verified',
    FAULTS,
    '!contentDigestOf(salt, content).equals(contentDigest)',
    'false',
    AUDITS,
  ),
  of(
    'an entry of the audit log loses its salt with what it said alone',
    FAULTS,
    'if (!isStruckOut(entry))',
    'if (false)',
    AUDITS,
  ),
  of(
    'the hash of a segment of the audit log is verified',
    FAULTS,
    '!segmentHashOf(segment, digests).equals(segment.hash)',
    'false',
    AUDITS,
  ),
  of(
    'the entries of a segment of the audit log are counted',
    FAULTS,
    'entries.length !== segment.entries',
    'false',
    AUDITS,
  ),
  of('no segment of the audit log is missing', FAULTS, 'if (missing > 0n) {', 'if (false) {', AUDITS),
  of(
    'a segment of the audit log follows the one before it',
    FAULTS,
    'segment.previousHash.equals(before.hash)',
    'true',
    AUDITS,
  ),
  of(
    'an entry of the audit log is struck out by an erasure alone',
    `${CHAIN}/audit-chain.auditor.ts`,
    'entries.filter((entry) => without.has(entry.id))',
    'entries.filter((entry) => without.has(entry.id) && false)',
    AUDITS,
  ),
  of(
    'a segment of the audit log is not written twice',
    `${CHAIN}/export-audit-log.loop.ts`,
    'if (there === null) {',
    'if (there !== undefined) {',
    EXPORTS,
  ),
  of(
    'a segment of the audit log that is not as it was sealed is not exported',
    `${CHAIN}/export-audit-log.loop.ts`,
    'if (fault !== undefined) {',
    'if (fault === null) {',
    EXPORTS,
  ),
  of(
    'another object of the same segment of the audit log is found',
    `${CHAIN}/archive-faults.ts`,
    'if (name !== key) faults.push',
    'if (name === "") faults.push',
    EXPORTS,
  ),
  of(
    'a bucket that cannot lock gets nothing of the audit log',
    'libs/assets/src/store/s3/archive-bucket.ts',
    '    await this.assertLockable();\n',
    '',
    ['libs/assets/src/store/s3/archive-bucket.int-spec'],
  ),
  of(
    'a restore without privileges opens the audit log to nobody',
    'scripts/lib/prisma/database-rights.mjs',
    '`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`',
    "'SELECT'",
    ['test/operations/database-roles.e2e-spec'],
  ),
];
