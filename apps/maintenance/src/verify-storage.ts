import { parseArgs } from 'node:util';
import { UNKNOWN_STORE, blobKey, composeAssets, openBlobStore, type BlobRef } from '@millrace/assets';
import { Database, assertSchema } from '@millrace/database';
import { BootError, readSettings, runMain } from '@millrace/platform';
import { maintenanceSettings } from './maintenance.config';

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/**
 * Compare every blob's record with its bytes, every byte of them read, and every object of the store with the records; run
 * after a restore. Prints what it found, and ends with 1 when bytes are lost or not what they were. With `--remove-strays` it first deletes
 * the objects that no record names: a backup of the bytes has what was erased since they were copied, and a restore brings it back.
 */
async function verifyStorage(): Promise<void> {
  const removes = readFlag();
  const settings = readSettings(maintenanceSettings, process.env);
  const database = new Database(settings, 'millrace-verify-storage');
  await assertSchema(database);
  const store = await openBlobStore(settings);
  const { audit } = composeAssets({ database, store, settings });
  if (removes) for await (const key of audit.removeStrays()) say(`removed: ${key}`);
  const { checkedBlobs, isOwnStore, strayKeys, lostBlobs, corruptBlobs } = await audit.run(true);
  store.close();
  await database.close();
  if (!isOwnStore && lostBlobs.length > 0) say(UNKNOWN_STORE);
  for (const key of strayKeys) say(`stray: ${key}`);
  for (const blob of lostBlobs) say(`lost: ${placeOf(blob)}`);
  for (const blob of corruptBlobs) say(`corrupt: ${placeOf(blob)}`);
  const sound = checkedBlobs - lostBlobs.length - corruptBlobs.length;
  say(`${sound} sound, ${strayKeys.length} stray, ${lostBlobs.length} lost, ${corruptBlobs.length} corrupt.`);
  process.exitCode = lostBlobs.length + corruptBlobs.length > 0 ? 1 : 0;
}

/** @throws BootError where there is another argument. */
function readFlag(): boolean {
  try {
    return parseArgs({ options: { 'remove-strays': { type: 'boolean' } } }).values['remove-strays'] ?? false;
  } catch {
    throw new BootError('verify-storage takes no argument but --remove-strays.');
  }
}

/** Where an operator who mends it puts the right bytes, and who asks for them. */
function placeOf(blob: BlobRef): string {
  return `${blobKey(blob)} (${blob.hash} of account ${blob.accountId})`;
}

runMain('verify-storage', verifyStorage);
