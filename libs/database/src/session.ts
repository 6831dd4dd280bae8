import type pg from 'pg';
import { BootError } from '@millrace/platform';
import type { PoolerMode } from './database.settings';

/**
 * What gives a new connection its timeouts and its time zone, which is UTC: times that Prisma writes have no zone, and days begin at
 * midnight UTC. They are never startup parameters: poolers refuse those, or drop them silently.
 *
 * A connection of our own, or lent for a session, is set by a statement. A pooler that lends a connection for one transaction
 * would leave such a setting to others, so there they have to be those of the role, and are only checked.
 */
export function sessionOf(mode: PoolerMode, timeoutMs: number): (client: pg.ClientBase) => Promise<void> {
  return mode === 'session' ? (client) => setSession(client, timeoutMs) : assertSession;
}

async function setSession(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  await client.query(
    `SET timezone = 'UTC'; SET statement_timeout = ${timeoutMs}; SET idle_in_transaction_session_timeout = ${timeoutMs}`,
  );
}

/** @throws BootError with the cure when the role has no timeouts, or another time zone. */
async function assertSession(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ role: string; zone: string; isUtc: boolean; isLimited: boolean }>(`
    SELECT current_user AS role, current_setting('TimeZone') AS zone,
      current_setting('TimeZone') ~* '^(etc/)?(utc|uct|gmt|universal|zulu)$' AS "isUtc",
      current_setting('statement_timeout') <> '0'
        AND current_setting('idle_in_transaction_session_timeout') <> '0' AS "isLimited"`);
  const [{ role, zone, isUtc, isLimited } = { role: '', zone: '', isUtc: false, isLimited: false }] = rows;
  if (!isLimited) {
    throw new BootError(
      `The database role ${role} has no timeouts, and a transaction pooler cannot be given any: run ` +
        `ALTER ROLE "${role}" SET statement_timeout = '15s'; ` +
        `ALTER ROLE "${role}" SET idle_in_transaction_session_timeout = '15s'; and reconnect the pooler.`,
    );
  }
  if (isUtc) return;
  throw new BootError(
    `Sessions of the database role ${role} are in the time zone ${zone}, and a transaction pooler cannot be given UTC: run ` +
      `ALTER ROLE "${role}" SET timezone = 'UTC'; and reconnect the pooler.`,
  );
}
