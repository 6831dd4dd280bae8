import { AuditLog, AuditLogStore } from '@millrace/accounts';
import { openBlobStore } from '@millrace/assets';
import { Database, assertSchema } from '@millrace/database';
import { readSettings, runMain } from '@millrace/platform';
import { composeReappliedErasures } from '@millrace/privacy';
import { maintenanceSettings } from './maintenance.config';

/**
 * Ask again for the erasures that a restore of the database has taken back, by the notes beside the bytes; run after a restore, before the
 * processes start, so that nobody who was erased is served. With a database user for each process it needs that of the api, as which erasures
 * are asked for. Ends with 1 when a note could not be read. Does nothing where nothing was restored.
 */
async function reapplyErasures(): Promise<void> {
  const settings = readSettings(maintenanceSettings, process.env);
  const database = new Database(settings, 'millrace-reapply-erasures');
  await assertSchema(database);
  const store = await openBlobStore(settings);
  const { secretKey } = settings;
  const audit = new AuditLog(database, new AuditLogStore());
  const reapplied = composeReappliedErasures({ database, notes: store.notes, secretKey }, audit);
  const { asked, unreadable } = await reapplied.run({ actor: 'restore', address: null });
  store.close();
  await database.close();
  const say = (line: string): boolean => process.stdout.write(`${line}\n`);
  for (const id of asked) say(`asked again: ${id}`);
  for (const { id, reason } of unreadable) say(`not readable: ${id} (${reason})`);
  say(`${asked.length} asked again, ${unreadable.length} not readable.`);
  process.exitCode = unreadable.length > 0 ? 1 : 0;
}

runMain('reapply-erasures', reapplyErasures);
