import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const STORE = 'libs/models/src/library/model.store.ts';
const USE = 'libs/models/src/library/model-use.store.ts';
const IMPORTER = 'libs/models/src/import/model-importer.ts';
const ORIGIN = 'libs/models/src/import/origin-client.ts';
const UNUSED = 'libs/models/src/library/unused-model.store.ts';
const UNUSED_MODELS = ['libs/models/src/library/unused-models.int-spec'];
const LIBRARY = ['libs/models/src/library/model-library.int-spec'];
const IMPORTS = ['libs/models/src/import/import.int-spec'];
const HEADERS = ['libs/models/src/headers/headers.spec'];

/** Of the model library. @type {Guard[]} */
export const MODEL_GUARDS = [
  of(
    'a model that is not shared is its account alone',
    STORE,
    "OR (m.shared AND m.state = 'ready'))`;",
    'OR true)`;',
    LIBRARY,
  ),
  of('a model that a job names is not deleted', STORE, ' AND NOT ${inUse(spellingsOf(name))}', '', LIBRARY),
  of(
    'a model that a graph names anywhere is not deleted',
    STORE,
    '(m.name = ANY(j.models) OR EXISTS (',
    '(m.name = ANY(j.models) OR false AND EXISTS (',
    LIBRARY,
  ),
  of('a model that a deployment lists is not deleted', STORE, '\n        AND NOT ${isOfDeployment}', '', LIBRARY),
  of(
    'a model that a deployment lists is not deleted as unused',
    UNUSED,
    ' AND NOT ${isOfDeployment}',
    '',
    UNUSED_MODELS,
  ),
  of('a model that is shared is not deleted', STORE, ' AND NOT m.shared AND NOT', ' AND NOT', LIBRARY),
  of(
    'a model that was used meanwhile is not deleted as unused',
    UNUSED,
    'WHERE ${isOwn(accountId, id)} AND ${mayGo(days)} AND NOT',
    'WHERE ${isOwn(accountId, id)} AND NOT',
    UNUSED_MODELS,
  ),
  of(
    'a model that is shared is not deleted as unused',
    UNUSED,
    "(m.state = 'ready' AND NOT m.shared AND ${isIdle(days)})",
    "(m.state = 'ready' AND ${isIdle(days)})",
    UNUSED_MODELS,
  ),
  of(
    'a model that a job names is not deleted as unused',
    UNUSED,
    'return idle.filter(({ id }) => !ids.has(id));',
    'return idle.filter(() => ids !== undefined);',
    UNUSED_MODELS,
  ),
  of(
    'a model that a deployment names is not deleted as unused',
    UNUSED,
    ' AND NOT ${isForDeployment(spellingsOf(name))}',
    '',
    UNUSED_MODELS,
  ),
  of(
    "an account's own model comes before a shared one",
    USE,
    'ORDER BY m.folder, m.name, m.own DESC`',
    'ORDER BY m.folder, m.name, m.own`',
    LIBRARY,
  ),
  of(
    'the content of a model is not read by its hash alone',
    USE,
    "m.digest = ${digest} AND m.state = 'ready' AND (m.account_id = ${accountId}::uuid OR m.shared)",
    "m.digest = ${digest} AND m.state = 'ready'",
    LIBRARY,
  ),
  of(
    'an asset that a model refers to does not expire',
    'libs/assets/src/records/asset.store.ts',
    '  AND NOT EXISTS (SELECT 1 FROM models m WHERE m.asset_id = a.id)`;',
    '`;',
    LIBRARY,
  ),
  of(
    'an import that is not held any more writes nothing',
    'libs/models/src/import/import.store.ts',
    "AND state = 'importing' AND import_attempt = ${attempt}`;",
    "AND state = 'importing' AND ${attempt}::int > 0`;",
    IMPORTS,
  ),
  of(
    'each redirect of a source is checked',
    ORIGIN,
    'const fault = this.origins.faultOf(url);',
    'const fault = this.origins.faultOf(first);',
    IMPORTS,
  ),
  of(
    'what is imported has the announced SHA-256',
    IMPORTER,
    'if (actual !== expectedHash) {',
    'if (actual === null) {',
    IMPORTS,
  ),
  of(
    'a file that changes while it is imported is refused',
    IMPORTER,
    'if (isSame) return;',
    'if (isSame || begun.etag !== null) return;',
    IMPORTS,
  ),
  of(
    'a header does not hide bytes of a file',
    'libs/models/src/headers/safetensors.ts',
    'if (at < dataBytes) throw',
    'if (at < 0) throw',
    HEADERS,
  ),
];
