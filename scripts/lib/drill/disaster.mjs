import { Failure, task } from '../command/index.mjs';
import { DATABASE, dataIn, seedFolder, startPostgres } from '../postgres/index.mjs';
import { onDatabase } from '../prisma/index.mjs';
import { readSecrets } from '../servers/index.mjs';
import { Fleet, claimFolder } from '../services/index.mjs';
import { choosePorts, startStack } from '../stack/index.mjs';
import { ARCHIVING, Backup, PLACES } from './backup.mjs';
import { Load, call } from './load.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('./load.mjs').Acknowledged} Acknowledged */
/** @typedef {import('./backup.mjs').RestorePoint} RestorePoint */
/** @typedef {import('./drill.mjs').DrillOptions} DrillOptions */
/** @typedef {import('./drill.mjs').Store} Store */

/**
 * What was acknowledged before the disaster at `lostAtMs`, and the moment that all can be restored to. `erasedBefore`: a job that was erased
 * before that moment, with its bytes, which the backup keeps. `erasedId`: one that was erased after it; null: none was.
 *
 * @typedef {{ jobId: string, hashes: string[] }} Erased
 * @typedef {{ acknowledged: Acknowledged[], lostAtMs: number, point: RestorePoint, erasedBefore: Erased, erasedId: string | null }} Loss
 */

const ERASED_LIMIT_MS = 60_000;
const POLL_MS = 100;
const KILL = [{ signal: /** @type {const} */ ('SIGKILL'), waitMs: 5_000 }];

/**
 * Run a stack under load, backed up, until a disaster takes its database, its Redis, its processes and its bytes.
 *
 * @param {Scope} scope
 * @param {string} path of its folder
 * @param {Store} store
 * @param {DrillOptions} options
 * @returns {Promise<Loss>}
 */
export async function runUntilLost(scope, path, store, options) {
  return scope.within(async (own) => {
    const folder = await claimFolder(own, path);
    const fleet = new Fleet(own, folder);
    const password = readSecrets(folder.at('secrets.json')).postgresPassword;
    const seed = await seedFolder(own);
    const { url } = await startPostgres(fleet, { password, seed, settings: ARCHIVING });
    const databaseUrl = url(DATABASE);
    const ports = await choosePorts(folder, { port: 0, opsPort: 0 });
    const settings = { ...store.settings, DATABASE_URL: databaseUrl };
    const run = await startStack(own, folder, { ...ports, surface: 'cloud', workers: 1, settings }, fleet);
    const load = new Load(run);
    const { buckets, bucket: from, backups: to } = store;
    const backup = new Backup(own, { buckets, from, to, databaseUrl, dataDir: dataIn(folder) });
    await backup.open();
    await buckets.putFile(to, PLACES.secrets, folder.at('secrets.json'));
    load.begin();
    try {
      await task(own, 'Taking a base backup under load', async () => {
        await backup.takeBase();
        await backup.round();
      });
      const erasedBefore = await task(own, 'Erasing a job whose bytes the backup has', () =>
        eraseBackedUp(own, { backup, load, databaseUrl, store }),
      );
      backup.keepUp(options.roundSeconds * 1_000);
      const serving = `Serving for ${options.seconds} s, backed up every ${options.roundSeconds} s`;
      const { point, erasedId } = await task(own, serving, async () => {
        await own.pause(options.seconds * 1_000);
        if (options.disaster === 'machine') return { point: backup.point, erasedId: null };
        return mistake(backup, databaseUrl, () => eraseOne(own, load, erasedBefore));
      });
      const lostAtMs = Date.now();
      await task(own, 'Losing all of it', () => destroy(fleet, store));
      await load.stop();
      // The round that was under way has lost its database; one that failed before was noticed when the point was read.
      await backup.stop().catch(() => undefined);
      return { acknowledged: load.acknowledged, lostAtMs, point, erasedBefore, erasedId };
    } finally {
      await load.stop();
    }
  });
}

/**
 * Somebody empties the table of jobs, and all that refers to it. It is seen when the next rounds have backed that up, too. What was erased
 * shortly before would come back with the rest.
 *
 * @param {Backup} backup
 * @param {string} databaseUrl
 * @param {() => Promise<string>} erase
 * @returns {Promise<{ point: RestorePoint, erasedId: string }>} the moment before
 */
async function mistake(backup, databaseUrl, erase) {
  await backup.stop();
  const point = await backup.mark();
  const erasedId = await erase();
  await onDatabase(databaseUrl, (client) => client.query('TRUNCATE jobs CASCADE'));
  await backup.round();
  return { point, erasedId };
}

/**
 * Have a job erased after its bytes were backed up, and back up what is left.
 *
 * @param {Scope} scope
 * @param {{ backup: Backup, load: Load, databaseUrl: string, store: Store }} parts
 * @returns {Promise<Erased>}
 */
async function eraseBackedUp(scope, { backup, load, databaseUrl, store }) {
  const { jobId, hashes } = await untilOutputs(scope, databaseUrl);
  await backup.round();
  await erase(scope, load, jobId);
  const left = await keysOf(store, hashes);
  if (left.length > 0) throw new Failure(`The bytes of an erased job are there yet: ${left.join(', ')}.`);
  await backup.round();
  return { jobId, hashes };
}

/**
 * @param {Scope} scope
 * @param {string} databaseUrl
 * @returns {Promise<Erased>} a job that has ended, and its outputs
 */
async function untilOutputs(scope, databaseUrl) {
  const query = `SELECT o.job_id AS "jobId", array_agg(a.hash) AS hashes
    FROM job_outputs o JOIN assets a ON a.id = o.asset_id JOIN jobs j ON j.id = o.job_id
    WHERE j.completed_at IS NOT NULL GROUP BY o.job_id LIMIT 1`;
  for (const until = Date.now() + ERASED_LIMIT_MS; Date.now() < until; await scope.pause(POLL_MS)) {
    /** @type {import('pg').QueryResult<Erased>} */
    const { rows } = await onDatabase(databaseUrl, (client) => client.query(query));
    if (rows[0] !== undefined) return rows[0];
  }
  throw new Failure('No job had ended in time that could be erased.');
}

/**
 * @param {Store} store
 * @param {string[]} hashes of bytes
 * @returns {Promise<string[]>} the objects that have them
 */
export async function keysOf({ buckets, bucket }, hashes) {
  const names = hashes.map((hash) => hash.slice(hash.indexOf(':') + 1));
  return (await buckets.keys(bucket, PLACES.blobs)).filter((key) => names.some((name) => key.includes(name)));
}

/**
 * @param {Scope} scope
 * @param {Load} load
 * @param {Erased} but the job that is erased already
 * @returns {Promise<string>} the job
 */
async function eraseOne(scope, load, but) {
  const job = load.acknowledged.find(({ id }) => id !== but.jobId);
  if (job === undefined) throw new Failure('No job was acknowledged that could be erased.');
  await erase(scope, load, job.id);
  return job.id;
}

/**
 * Have a job erased, and wait until that is done.
 *
 * @param {Scope} scope
 * @param {Load} load
 * @param {string} jobId
 */
async function erase(scope, { stack }, jobId) {
  const asked = await call(stack, '/platform/v1/erasures', { subject: 'job', job_id: jobId });
  if (!asked.ok) throw new Failure(`A request for erasure was answered with ${asked.status}.`);
  const { id } = /** @type {{ id: string }} */ (await asked.json());
  for (const until = Date.now() + ERASED_LIMIT_MS; Date.now() < until; await scope.pause(POLL_MS)) {
    const answer = await call(stack, `/platform/v1/erasures/${id}`);
    if (/** @type {{ state: string }} */ (await answer.json()).state === 'done') return;
  }
  throw new Failure('A job was not erased in time.');
}

/**
 * @param {Fleet} fleet
 * @param {Store} store
 */
async function destroy(fleet, { buckets, bucket }) {
  for (const { spec } of fleet.services) spec.stopSteps = KILL;
  await Promise.all(fleet.services.map((service) => service.stop()));
  await buckets.empty(bucket);
}
