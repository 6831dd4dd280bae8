import type pg from 'pg';
import { BootError } from '@millrace/platform';
import type { PoolerMode } from './database.settings';

/**
 * What gives a new connection its timeouts. They are never startup parameters: poolers refuse those, or drop them silently.
 *
 * A connection of our own, or lent for a session, is set by a statement. A pooler that lends a connection for one transaction
 * would leave such a setting to others, so there the timeouts have to be those of the role, and are only checked.
 */
export function timeoutsOf(mode: PoolerMode, timeoutMs: number): (client: pg.ClientBase) => Promise<void> {
  return mode === 'session' ? (client) => setTimeouts(client, timeoutMs) : assertTimeouts;
}

async function setTimeouts(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  await client.query(`SET statement_timeout = ${timeoutMs}; SET idle_in_transaction_session_timeout = ${timeoutMs}`);
}

/** @throws BootError with the cure when the role has no timeouts. */
async function assertTimeouts(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ role: string; isSet: boolean }>(`
    SELECT current_user AS role, current_setting('statement_timeout') <> '0'
      AND current_setting('idle_in_transaction_session_timeout') <> '0' AS "isSet"`);
  const [{ role, isSet } = { role: '', isSet: false }] = rows;
  if (isSet) return;
  throw new BootError(
    `The database role ${role} has no timeouts, and a transaction pooler cannot be given any: run ` +
      `ALTER ROLE "${role}" SET statement_timeout = '15s'; ` +
      `ALTER ROLE "${role}" SET idle_in_transaction_session_timeout = '15s'; and reconnect the pooler.`,
  );
}
