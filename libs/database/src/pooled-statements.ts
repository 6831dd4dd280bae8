import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/** One text for all connections, because a pooler keeps a statement by its text. */
const PROBE = 'SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1) AS "isPassedOn"';

/**
 * Whether the pooler that has lent the connection keeps prepared statements of its clients: PgBouncer since 1.21, where `max_prepared_statements`
 * is above 0. It prepares each on every connection to PostgreSQL that needs it, under a name of its own. A pooler that passes our names on would have one
 * client meet the statements of another, and miss its own.
 */
export async function keepsStatements(client: pg.ClientBase): Promise<boolean> {
  const name = `probe-${randomUUID()}`;
  await client.query('BEGIN');
  const { rows } = await client.query<{ isPassedOn: boolean }>({ name, text: PROBE, values: [name] });
  const isPassedOn = rows[0]?.isPassedOn ?? true;
  if (isPassedOn) await client.query(`DEALLOCATE "${name}"`);
  await client.query('COMMIT');
  return !isPassedOn;
}
