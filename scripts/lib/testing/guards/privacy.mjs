import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const STORE = 'libs/privacy/src/erasure/erasure.store.ts';
const RUNNER = 'libs/privacy/src/erasure/erasure-runner.ts';
const RUNS = ['libs/privacy/src/erasure/erasure-runner.int-spec'];
const ASSETS = 'libs/assets/src/erasure/asset-erasure.store.ts';
const ERASED_ASSETS = ['libs/assets/src/erasure/asset-eraser.int-spec'];

/** Of what is erased, and of what has to stay. @type {Guard[]} */
export const PRIVACY_GUARDS = [
  of(
    'who lost its lease writes nothing of an erasure',
    RUNNER,
    'if (!(await this.store.hold(tx, lease))) throw new LeaseLost();',
    'await this.store.hold(tx, lease);',
    RUNS,
  ),
  of(
    'the lease of an erasure is held by its token',
    STORE,
    'SELECT 1 FROM erasures WHERE id = ${id}::uuid AND lease_token = ${leaseToken}::uuid FOR UPDATE',
    'SELECT 1 FROM erasures WHERE id = ${id}::uuid AND ${leaseToken}::uuid IS NOT NULL FOR UPDATE',
    RUNS,
  ),
  of(
    'two processes never have the same step of an erasure',
    STORE,
    ' AND (d.lease_expires_at IS NULL OR d.lease_expires_at < now())',
    '',
    RUNS,
  ),
  of(
    'a page of the jobs of an export has bounded bytes',
    'libs/privacy/src/export/account-export.store.ts',
    ' WHERE nth = 1 OR bytes_so_far <= ${JOBS_PAGE_BYTES}',
    '',
    ['libs/privacy/src/export/account-export.int-spec'],
  ),
  without('an erasure is open once', 'DROP INDEX erasures_open_key', RUNS),
  without('a closed account stays closed', 'ALTER TABLE accounts DROP CONSTRAINT accounts_closed_check', RUNS),
  without('an entry of the audit log is not changed', 'DROP TRIGGER audit_log_append_trigger ON audit_log', RUNS),
  without(
    'only the reason of a transaction is struck out',
    'DROP TRIGGER ledger_transactions_append_trigger ON ledger_transactions',
    RUNS,
  ),
  of(
    'an asset to which others refer is not erased',
    ASSETS,
    'AND a.account_id = ${accountId}::uuid AND NOT (${refersTo})',
    'AND a.account_id = ${accountId}::uuid',
    ERASED_ASSETS,
  ),
  of(
    'bytes to which an asset refers are not condemned',
    ASSETS,
    'WHERE b.account_id = ${accountId}::uuid AND b.hash = ANY(${[...hashes]}::text[])\n        AND NOT EXISTS (SELECT FROM assets a WHERE a.account_id = b.account_id AND a.hash = b.hash)',
    'WHERE b.account_id = ${accountId}::uuid AND b.hash = ANY(${[...hashes]}::text[])',
    ERASED_ASSETS,
  ),
];
