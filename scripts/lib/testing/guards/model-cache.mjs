import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const FETCH = 'libs/model-cache/src/fetch-model.ts';
const ROOM = 'libs/model-cache/src/room.ts';
const SALTS = 'libs/engines/src/comfyui/graph/cache-salt.ts';
const CATALOGUE = 'libs/engines/src/comfyui/server-catalogue.ts';
const STAGINGS = ['libs/model-cache/src/staging.spec'];
const PLANS = ['libs/model-cache/src/room.spec'];
const ATTEMPTS = ['apps/worker/src/attempt/models.int-spec'];

/** Of models on a worker's host: what counts as one, what stays, and who sees it. @type {Guard[]} */
export const MODEL_CACHE_GUARDS = [
  of(
    'what has another hash is no model',
    FETCH,
    "if (this.hasher.digest('hex') !== this.file.digest) throw new HashMismatch('the hash differs');",
    '',
    STAGINGS,
  ),
  of(
    'a model that an engine has is not evicted',
    ROOM,
    'oldestFirst(models.filter(({ isLinked }) => !isLinked))',
    'oldestFirst([...models])',
    PLANS,
  ),
  of(
    'what an engine holds of a model is found by its content, not by its name alone',
    SALTS,
    "if (lent !== '') salts.set(id, saltOf(lent));",
    '',
    ATTEMPTS,
  ),
  of(
    'the name of a model that was lent to a run is in no catalogue',
    CATALOGUE,
    'isLent(option) && !known.includes(option)',
    'isLent(option) && known.includes(option)',
    ATTEMPTS,
  ),
  of(
    'nothing but links is removed from a folder that was given to an engine',
    'libs/model-cache/src/engine-links.ts',
    'else if (inodes.has(',
    'else if (!inodes.has(0) || inodes.has(',
    ['libs/model-cache/src/crash.spec'],
  ),
];
