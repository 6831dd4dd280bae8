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
 * What was acknowledged before the disaster at `lostAtMs`, and the moment that all can be restored to. `erasedId`: a job that was erased
 * after that moment; null: none was.
 *
 * @typedef {{ acknowledged: Acknowledged[], lostAtMs: number, point: RestorePoint, erasedId: string | null }} Loss
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
      backup.keepUp(options.roundSeconds * 1_000);
      const serving = `Serving for ${options.seconds} s, backed up every ${options.roundSeconds} s`;
      const { point, erasedId } = await task(own, serving, async () => {
        await own.pause(options.seconds * 1_000);
        if (options.disaster === 'machine') return { point: backup.point, erasedId: null };
        return mistake(backup, databaseUrl, () => eraseOne(own, load));
      });
      const lostAtMs = Date.now();
      await task(own, 'Losing all of it', () => destroy(fleet, store));
      await load.stop();
      // The round that was under way has lost its database; one that failed before was noticed when the point was read.
      await backup.stop().catch(() => undefined);
      return { acknowledged: load.acknowledged, lostAtMs, point, erasedId };
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
 * Have a job erased, and wait until that is done.
 *
 * @param {Scope} scope
 * @param {Load} load
 * @returns {Promise<string>} the job
 */
async function eraseOne(scope, { acknowledged, stack }) {
  const [job] = acknowledged;
  if (job === undefined) throw new Failure('No job was acknowledged that could be erased.');
  const asked = await call(stack, '/platform/v1/erasures', { subject: 'job', job_id: job.id });
  if (!asked.ok) throw new Failure(`A request for erasure was answered with ${asked.status}.`);
  const { id } = /** @type {{ id: string }} */ (await asked.json());
  for (const until = Date.now() + ERASED_LIMIT_MS; Date.now() < until; await scope.pause(POLL_MS)) {
    const answer = await call(stack, `/platform/v1/erasures/${id}`);
    if (/** @type {{ state: string }} */ (await answer.json()).state === 'done') return job.id;
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
