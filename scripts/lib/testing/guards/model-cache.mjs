import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const FETCH = 'libs/model-cache/src/fetch-model.ts';
const ROOM = 'libs/model-cache/src/room.ts';
const SALTS = 'libs/engines/src/comfyui/graph/cache-salt.ts';
const CATALOGUE = 'libs/engines/src/comfyui/server-catalogue.ts';
const STAGINGS = ['libs/model-cache/src/staging.spec'];
const PREFETCHES = ['libs/model-cache/src/prefetch.spec'];
const PLANS = ['libs/model-cache/src/room.spec'];
const RELIEFS = ['libs/model-cache/src/relief.spec'];
const MODEL_ROOM = 'libs/jobs/src/state/model-room.store.ts';
const ROOM_FOR_MODELS = ['libs/jobs/src/dispatch/model-room.int-spec'];
const ATTEMPTS = ['apps/worker/src/attempt/models.int-spec'];

/** Of models on a worker's host: what counts as one, what stays, who sees it, and which worker has room for them. @type {Guard[]} */
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
    'return isLinked || fetching.has(digest);',
    'return fetching.has(digest);',
    PLANS,
  ),
  of(
    'a model that is about to be linked is not evicted',
    ROOM,
    'return isLinked || fetching.has(digest);',
    'return isLinked;',
    PLANS,
  ),
  of(
    'a model that an engine gets while it is evicted is put back',
    'libs/model-cache/src/eviction.ts',
    'if (found.nlink === 1) {',
    'if (found.nlink > 0) {',
    RELIEFS,
  ),
  of(
    'pieces of a fetch that begins while room is looked for stay',
    ROOM,
    'const fetched = await this.fetched(partials);',
    'const fetched = await this.fetched([]);',
    RELIEFS,
  ),
  of(
    'what is prefetched together goes into the cache together',
    'libs/model-cache/src/prefetch.ts',
    '(needed <= room ? fitting : left).push(file);\n    if (needed > room) continue;',
    'fitting.push(file);',
    PREFETCHES,
  ),
  of(
    'a prefetch evicts none of its own models',
    'libs/model-cache/src/prefetch.ts',
    'return [...present, ...absent];',
    'return [...absent, ...present];',
    PREFETCHES,
  ),
  of(
    'what the cache cannot hold is not tried again and again',
    'apps/worker/src/prefetch/named-models.ts',
    "fault !== 'too_large' && ",
    '',
    ['apps/worker/src/prefetch/named-models.spec'],
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
    'a run without models of the library is not shown those of the run before',
    'apps/worker/src/attempt/model-staging.ts',
    'if (links.mayShowModels) await links.clear();',
    '',
    ATTEMPTS,
  ),
  of(
    'nothing but links is removed from a folder that was given to an engine',
    'libs/model-cache/src/engine-links.ts',
    'else if (inodes.has(',
    'else if (!inodes.has(0) || inodes.has(',
    ['libs/model-cache/src/crash.spec'],
  ),
  of(
    'a job is for a worker that has room for its models',
    'libs/jobs/src/lifecycle/claim.store.ts',
    'Prisma.sql`NOT ${isForAnother(workerId)}`',
    'Prisma.sql`true`',
    ROOM_FOR_MODELS,
  ),
  of(
    'a job with models is not for any worker, also where its message names none',
    'libs/jobs/src/lifecycle/claim.store.ts',
    "Prisma.sql`cardinality(coalesce(j.models, '{}')) = 0`",
    'Prisma.sql`true`',
    ROOM_FOR_MODELS,
  ),
  of(
    'a job waits only for a worker that can hold its models',
    MODEL_ROOM,
    'another(workerId, Prisma.sql`other.model_cache_bytes >= ${bytes}`)',
    'another(workerId, Prisma.sql`${bytes} IS NOT NULL`)',
    ROOM_FOR_MODELS,
  ),
  of(
    'a job waits for no worker that has gone',
    MODEL_ROOM,
    "(other.state IN ('starting', 'ready')\n    AND ${isSeen}\n    AND (",
    '((',
    ROOM_FOR_MODELS,
  ),
  of(
    'a job waits for workers of its own pool alone',
    MODEL_ROOM,
    'WHERE other.pool_id = j.pool_id AND other.id',
    'WHERE other.id',
    ROOM_FOR_MODELS,
  ),
  of(
    'a job does not go round among workers without room',
    MODEL_ROOM,
    ' AND NOT ${lackedRoom(Prisma.sql`other.id`)})`;',
    ')`;',
    ROOM_FOR_MODELS,
  ),
  of(
    'an attempt is handed back for room only where another worker has some',
    'libs/jobs/src/state/job-guards.store.ts',
    "AND j.status = 'running' AND ${hasRoomElsewhere(Prisma.sql`j.worker_id`, needed)}`;",
    "AND j.status = 'running' AND ${needed} > 0`;",
    ROOM_FOR_MODELS,
  ),
];
