import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const CONTENT = ['libs/assets/src/content/damaged-content.int-spec'];
const MARKS = ['libs/assets/src/records/blob-damage.int-spec'];
const DAMAGES = 'libs/assets/src/records/blob-damages.service.ts';
const STORE = 'libs/assets/src/records/blob-damage.store.ts';

/** Of bytes that are lost or damaged. @type {Guard[]} */
export const DAMAGE_GUARDS = [
  of(
    'bytes that are known to be damaged are not served',
    'libs/assets/src/content/content.service.ts',
    'if (asset.damage !== null && !(await this.damages.isBack(asset.blob, asset.damage))) throw contentLost(asset);',
    '',
    CONTENT,
  ),
  of(
    'bytes that were mended while they were looked at keep no mark',
    DAMAGES,
    'if (!(await this.isSound(blob))) return true;',
    'if (markedAt !== null) return true;',
    CONTENT,
  ),
  of('damaged bytes do not come back by themselves', DAMAGES, "damage !== 'lost' || ", '', CONTENT),
  of(
    'an upload places the bytes of a damaged blob again',
    'libs/assets/src/records/blob.service.ts',
    ' && damageOf(record) === null',
    '',
    CONTENT,
  ),
  of(
    'damaged bytes are not found by their hash',
    'libs/assets/src/records/blob.service.ts',
    " || damageOf(record) === 'rotten'",
    '',
    CONTENT,
  ),
  of(
    'only the note that was seen is taken back',
    STORE,
    ' AND b.damaged_at = ${damagedAt.toISOString()}::timestamptz',
    '',
    MARKS,
  ),
  of('an orphan is not lost', STORE, ' AND b.orphaned_at IS NULL', '', MARKS),
  of(
    'inputs are compared with their hash before an engine gets them',
    'apps/worker/src/attempt/input-staging.ts',
    'if (hash !== null && meter.finish().hash !== hash) await doubted(content, accountId, id);',
    '',
    ['apps/worker/src/attempt/input-staging.spec'],
  ),
  of(
    'a worker outside doubts inputs of its own job alone',
    'apps/gateway/src/attempts/bytes.controller.ts',
    'const { accountId } = await this.readerOf(fence, holder, id);\n    return { damaged:',
    'const { accountId } = await this.held.get(fence, holder);\n    return { damaged:',
    ['apps/gateway/src/gateway.int-spec'],
  ),
];
