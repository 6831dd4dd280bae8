import { randomUUID } from 'node:crypto';
import { Failure } from '../command/index.mjs';
import { concurrentWorkOf } from './migration-statements.mjs';

/*
 * The history of a database: which migrations it has. The table and its rows are Prisma's, so that its command line can read them.
 * A migration is known by its name alone: where its script is edited later, databases that have it stay as they are, and others run the
 * new text.
 */

/** @typedef {import('pg').Client} Client */
/** @typedef {import('./migration-files.mjs').Migration} Migration */
/** @typedef {{ migration_name: string, is_applied: boolean, logs: string | null }} Entry */

const TABLE = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id varchar(36) PRIMARY KEY,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`;

/**
 * Those of the migrations that the database does not have yet. Rows of attempts that did nothing are closed: of a script that the
 * server refused, and of an index, whose state shows what is left to do.
 *
 * @param {Client} client
 * @param {Migration[]} migrations
 * @throws {Failure} with the cure where Prisma's command line began a script, and was cut off before it wrote down how that ended
 */
export async function pendingOf(client, migrations) {
  await client.query(TABLE);
  /** @type {import('pg').QueryResult<Entry>} */
  const { rows } = await client.query(
    `SELECT migration_name, finished_at IS NOT NULL AS is_applied, logs FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  );
  const applied = new Set(rows.filter((row) => row.is_applied).map((row) => row.migration_name));
  const pending = migrations.filter(({ name }) => !applied.has(name));
  for (const { name, sql } of pending) {
    const begun = rows.find((row) => row.migration_name === name);
    if (begun === undefined) continue;
    if (begun.logs === null && concurrentWorkOf(sql) === null) throw undecided(name);
    await client.query(
      `UPDATE _prisma_migrations SET rolled_back_at = now()
        WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
      [name],
    );
  }
  return pending;
}

/** @param {string} name */
function undecided(name) {
  return new Failure(
    `The migration ${name} was begun and did not say how it ended. Look whether the database has what prisma/migrations/${name} makes, ` +
      `then write that down, and run this again: UPDATE _prisma_migrations SET finished_at = now() WHERE migration_name = '${name}'; ` +
      `or, where it has not, the same with rolled_back_at in place of finished_at.`,
  );
}

/**
 * Write down that the database has a migration: in the transaction of its script, so that both are there, or neither.
 *
 * @param {Client} client
 * @param {Migration} migration
 */
export async function recordApplied(client, { name, checksum }) {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}
