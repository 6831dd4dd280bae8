import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const BLOBS = 'libs/assets/src/records/blob-record.store.ts';
const SERVICE = 'libs/assets/src/upload/resumable-upload.service.ts';
const STORE = 'libs/assets/src/upload/resumable-upload.store.ts';
const LIVES = ['libs/assets/src/retention/lives.int-spec', 'libs/assets/src/retention/retention.int-spec'];
const OUTPUTS = ['libs/jobs/src/outputs/output.int-spec'];
const COMPLETIONS = [
  'libs/assets/src/upload/complete-upload.int-spec',
  'libs/assets/src/upload/resumable-upload.int-spec',
];

/** Of bytes: blobs, and uploads in parts. @type {Guard[]} */
export const UPLOAD_GUARDS = [
  of(
    'an orphan is kept for a while',
    BLOBS,
    'o.orphaned_at < now() - make_interval(secs => ${graceSeconds})',
    'o.orphaned_at IS NOT NULL',
    LIVES,
  ),
  of(
    'what is condemned is not minted from',
    BLOBS,
    '::timestamptz AND b.orphaned_at IS DISTINCT FROM ${CONDEMNED}`;',
    '::timestamptz`;',
    OUTPUTS,
  ),
  of(
    'only wrong bytes end an upload in parts',
    SERVICE,
    "if (error instanceof Refusal && error.code === 'hash_mismatch') await this.drop(upload);",
    'await this.drop(upload);',
    COMPLETIONS,
  ),
  of(
    'wrong bytes end an upload in parts',
    SERVICE,
    "if (error instanceof Refusal && error.code === 'hash_mismatch') await this.drop(upload);",
    '',
    COMPLETIONS,
  ),
  of(
    'bytes that were joined outlive a failure',
    SERVICE,
    'await bytes.release().catch(() => undefined);',
    'await bytes.discard();',
    COMPLETIONS,
  ),
  of(
    'joined bytes count as received',
    SERVICE,
    "if (parts.length === 0 && (await this.parts.isAssembled(handle))) return 'all';",
    '',
    COMPLETIONS,
  ),
  of(
    'completing again gives the asset of the first time',
    SERVICE,
    'return assetId === null ? null : {',
    'return assetId !== undefined ? null : {',
    COMPLETIONS,
  ),
  of('an upload in parts becomes no asset of a closed account', STORE, ' AND a.closed_at IS NULL)`);', ')`);', [
    'libs/assets/src/erasure/asset-eraser.int-spec',
  ]),
  of(
    'an upload in parts becomes an asset once',
    STORE,
    'AND asset_id IS NULL\n        AND EXISTS (',
    'AND EXISTS (',
    COMPLETIONS,
  ),
  of(
    'a mint of an upload that is over is undone',
    'libs/assets/src/upload/upload.service.ts',
    'throw new RefusedError(UPLOAD_OVER);',
    '',
    COMPLETIONS,
  ),
  of(
    'a list of assets is that of one account',
    'libs/assets/src/records/asset-list.store.ts',
    'a.account_id = ${scope.accountId}::uuid`, IS_OF',
    'true`, IS_OF',
    ['apps/api/src/assets/asset-list.int-spec'],
  ),
  of(
    'a page of assets looks at a thousand',
    'libs/database/src/looked-at.ts',
    'ORDER BY ${order} LIMIT ${most}',
    'ORDER BY ${order}',
    ['libs/assets/src/records/asset-list.int-spec'],
  ),
  of(
    'a demo deployment does not list assets',
    'apps/api/src/assets/assets.controller.ts',
    'if (visitor.demo) throw noDemoList();',
    '',
    ['apps/api/src/deployments/demo-networks.int-spec'],
  ),
];
