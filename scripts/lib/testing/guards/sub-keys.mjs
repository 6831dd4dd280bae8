import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const JOB_GUARDS = 'libs/jobs/src/state/job-guards.store.ts';
const ASSET_SCOPE = 'libs/assets/src/records/asset-scope.store.ts';
const CALLERS = 'apps/api/src/endpoints/callers/callers.ts';
const MATRIX = ['apps/api/src/sub-key-isolation.int-spec'];
const SUB_KEYS = ['apps/api/src/api-keys/sub-keys.int-spec'];
const JOB_READS = ['libs/jobs/src/follow/job.store.int-spec'];

/** Of sub-keys: what each of them sees and does is bounded by its labels. @type {Guard[]} */
export const SUB_KEY_GUARDS = [
  of(
    'a sub-key finds one job only by its labels',
    JOB_GUARDS,
    'return labels === null ? isIn : Prisma.sql`${isIn} AND ${hasLabels(labels)}`;',
    'return labels === null ? isIn : isIn;',
    MATRIX,
  ),
  of(
    'a sub-key polls only jobs with its labels',
    JOB_GUARDS,
    'AND (asked.labels IS NULL OR j.metadata @> asked.labels::jsonb)',
    '',
    JOB_READS,
  ),
  of(
    'a sub-key is shown no id of a job that it does not find',
    JOB_GUARDS,
    's.metadata @> ${labels}::jsonb AND s.expires_at > now())',
    '${labels}::jsonb IS NOT NULL)',
    ['apps/api/src/sub-key-isolation.int-spec', 'libs/jobs/src/reuse/reuse.int-spec'],
  ),
  of(
    'a sub-key lists only jobs with its labels',
    'libs/jobs/src/follow/job.store.ts',
    'if (labels !== null) conditions.push(hasLabels(labels));',
    '',
    SUB_KEYS,
  ),
  of(
    'a sub-key finds only batches of its labels',
    'libs/jobs/src/batches/batch.store.ts',
    'AND b.expires_at > now() AND ${hasLabels}`',
    'AND b.expires_at > now()`',
    MATRIX,
  ),
  of(
    'every job of a sub-key has its labels',
    'libs/jobs/src/submission/job-draft.ts',
    'metadata: withOwnLabels(scope.labels, metadata),',
    'metadata,',
    SUB_KEYS,
  ),
  of(
    'a sub-key finds only its own assets',
    ASSET_SCOPE,
    'if (labels === null) return isOfAccount;',
    'if (labels !== undefined) return isOfAccount;',
    SUB_KEYS,
  ),
  of(
    'a sub-key lists only its own uploads',
    'libs/assets/src/records/asset-list.store.ts',
    'if (scope.labels !== null) within.push(isListed[kind](scope));',
    '',
    SUB_KEYS,
  ),
  of(
    'a sub-key lists only outputs of its own jobs',
    ASSET_SCOPE,
    'WHERE j.account_id = ${accountId}::uuid AND j.metadata @> ${JSON.stringify(labels)}::jsonb',
    'WHERE j.account_id = ${accountId}::uuid AND ${JSON.stringify(labels)}::jsonb IS NOT NULL',
    ['libs/assets/src/records/asset-scope.int-spec'],
  ),
  of(
    'what was read for one sub-key is shown to no other',
    'libs/jobs/src/state/job.ts',
    'labels && Object.entries(labels).sort()',
    'labels === null',
    ['libs/jobs/src/state/job.spec'],
  ),
  of(
    'a sub-key is answered with earlier outputs of its own jobs alone',
    'libs/jobs/src/reuse/reuse.store.ts',
    'AND ${isReusable} AND ${isOwn}',
    'AND ${isReusable}',
    ['libs/jobs/src/reuse/reuse.int-spec'],
  ),
  of(
    'equal uploads of two sub-keys are two assets',
    'libs/assets/src/records/asset.store.ts',
    'AND a.labels IS NOT DISTINCT FROM ${like.labels && JSON.stringify(like.labels)}::jsonb',
    '',
    SUB_KEYS,
  ),
  of(
    "a sub-key knows nothing of the account's bytes",
    'libs/assets/src/upload/upload.service.ts',
    'if (scope.labels !== null && !(await this.assets.has(this.database, scope, hash, leftSeconds))) return null;',
    '',
    SUB_KEYS,
  ),
  of(
    'a sub-key finds only its own uploads in parts',
    'libs/assets/src/upload/resumable-upload.store.ts',
    "AND (${own}::jsonb IS NULL OR u.fields -> 'labels' @> ${own}::jsonb)`",
    '`',
    MATRIX,
  ),
  of('a sub-key can do nothing with the account', CALLERS, 'assertAdmits(access, caller);', '', MATRIX),
  of(
    'Idempotency-Keys of sub-keys are their own',
    'apps/api/src/endpoints/idempotency-key.ts',
    'if (labels === null) return',
    'return',
    SUB_KEYS,
  ),
  of(
    'a sub-key signs nobody in to the console',
    'libs/accounts/src/sessions/session.store.ts',
    'AND k.labels IS NULL AND',
    'AND',
    SUB_KEYS,
  ),
  of(
    "a sub-key's scopes are unknown to versions without sub-keys",
    'libs/accounts/src/key-labels.ts',
    'scopes.map((scope) => OF_OWN + scope)',
    '[...scopes]',
    SUB_KEYS,
  ),
  of(
    'the labels of a key last through its rotation',
    'libs/accounts/src/api-keys.service.ts',
    'const { name, scopes, labels, allowedAddresses } = old;',
    'const { name, scopes, allowedAddresses } = old;\n      const labels = null;',
    SUB_KEYS,
  ),
];
