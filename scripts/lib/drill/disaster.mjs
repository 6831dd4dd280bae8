import { task } from '../command/index.mjs';
import { DATABASE, dataIn, seedFolder, startPostgres } from '../postgres/index.mjs';
import { onDatabase } from '../prisma/index.mjs';
import { readSecrets } from '../servers/index.mjs';
import { Fleet, claimFolder } from '../services/index.mjs';
import { choosePorts, startStack } from '../stack/index.mjs';
import { ARCHIVING, Backup, PLACES } from './backup.mjs';
import { Load } from './load.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('./load.mjs').Acknowledged} Acknowledged */
/** @typedef {import('./backup.mjs').RestorePoint} RestorePoint */
/** @typedef {import('./drill.mjs').DrillOptions} DrillOptions */
/** @typedef {import('./drill.mjs').Store} Store */

/** What was acknowledged before the disaster at `lostAtMs`, and the moment that all can be restored to. */
/** @typedef {{ acknowledged: Acknowledged[], lostAtMs: number, point: RestorePoint }} Loss */

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
      const point = await task(own, serving, async () => {
        await own.pause(options.seconds * 1_000);
        return options.disaster === 'mistake' ? mistake(backup, databaseUrl) : backup.point;
      });
      const lostAtMs = Date.now();
      await task(own, 'Losing all of it', () => destroy(fleet, store));
      await load.stop();
      // The round that was under way has lost its database; one that failed before was noticed when the point was read.
      await backup.stop().catch(() => undefined);
      return { acknowledged: load.acknowledged, lostAtMs, point };
    } finally {
      await load.stop();
    }
  });
}

/**
 * Somebody empties the table of jobs, and all that refers to it. It is seen when the next rounds have backed that up, too.
 *
 * @param {Backup} backup
 * @param {string} databaseUrl
 * @returns {Promise<RestorePoint>} the moment before
 */
async function mistake(backup, databaseUrl) {
  await backup.stop();
  const before = await backup.mark();
  await onDatabase(databaseUrl, (client) => client.query('TRUNCATE jobs CASCADE'));
  await backup.round();
  return before;
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
