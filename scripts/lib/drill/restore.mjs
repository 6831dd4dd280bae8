import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../command/index.mjs';
import { dataIn, startPostgres } from '../postgres/index.mjs';
import { runTool } from '../system/index.mjs';
import { PLACES } from './backup.mjs';

/** @typedef {import('../services/fleet.mjs').Fleet} Fleet */
/** @typedef {import('./buckets.mjs').Buckets} Buckets */
/** @typedef {import('./backup.mjs').RestorePoint} RestorePoint */

const WAL = 'wal_restored';

/**
 * Restore the database to a moment and start its server (PostgreSQL's manual, "Recovering Using a Continuous Archive Backup").
 *
 * @param {Fleet} fleet over an empty folder
 * @param {{ buckets: Buckets, from: string, point: RestorePoint, password: string }} backup
 * @returns {Promise<(database: string) => string>} the URL of a database of it
 * @throws {Failure} when the backup does not reach that moment
 */
export async function restoreDatabase(fleet, { buckets, from, point, password }) {
  const dir = dataIn(fleet.folder);
  mkdirSync(dir, { mode: 0o700 });
  const tar = `${dir}.tar`;
  await buckets.getFile(from, PLACES.base, tar);
  const { code, output } = await runTool(fleet.scope, 'tar', [
    '--extract',
    '--no-same-owner',
    '--file',
    tar,
    '--directory',
    dir,
  ]);
  if (code !== 0) throw new Failure(`The base backup cannot be unpacked: ${output.trim()}`);
  writeFileSync(join(dir, 'backup_label'), await buckets.getText(from, PLACES.label));
  writeFileSync(join(dir, 'recovery.signal'), '');
  mkdirSync(join(dir, WAL));
  for (const key of await buckets.keys(from, PLACES.wal)) {
    await buckets.getFile(from, key, join(dir, WAL, key.slice(PLACES.wal.length)));
  }
  const settings = {
    restore_command: `cp "${WAL}/%f" "%p"`,
    recovery_target_time: point.at,
    recovery_target_action: 'promote',
  };
  // It counts as started when it has recovered and takes writes.
  const { url } = await startPostgres(fleet, { password, settings });
  return url;
}
