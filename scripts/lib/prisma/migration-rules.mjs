import { alterationOf, concurrentWorkOf, statementsOf } from './migration-statements.mjs';
import { tableFaults } from './table-rules.mjs';

/** Tables that may have many millions of rows: what reads or writes all of one locks out its users for minutes. */
export const LARGE_TABLES = [
  'assets',
  'audit_log',
  'blobs',
  'credit_lots',
  'idempotency_keys',
  'job_attempts',
  'job_graphs',
  'job_inputs',
  'job_logs',
  'job_outputs',
  'job_transitions',
  'jobs',
  'ledger_days',
  'ledger_entries',
  'ledger_transactions',
  'payment_events',
  'top_ups',
  'usage_records',
  'webhook_attempts',
  'webhook_messages',
];

/** The last migration that the rules do not cover: databases had applied it before there were rules, and do not run what is edited now. */
const LAST_FREE = '20261123030000_api_key_parents';
/** The last one that may lock several of them. */
const LAST_OF_MANY = '20261214000000_erasures';

const INDEX =
  /^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:(?:IF NOT EXISTS )?(?!ON )\S+ )?ON (?:ONLY )?(?:"?public"?\.)?"?(\w+)"?/i;
const INDEX_OF_CONSTRAINT =
  /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?"?(\w+)"? .*\bADD (?:CONSTRAINT \S+ )?(?:UNIQUE|PRIMARY KEY) ?\(/i;
const NEW_TABLE = /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/i;
const TRIGGER = /^(?:CREATE (?:OR REPLACE )?(?:CONSTRAINT )?|DROP )TRIGGER .*? ON (?:"?public"?\.)?"?(\w+)"?/i;
const VALIDATE = /^VALIDATE CONSTRAINT /i;

/**
 * What is wrong with the way in which a migration changes large tables.
 *
 * @param {string} name of its folder
 * @param {string} sql
 * @param {string[]} earlier scripts of the migrations before it
 * @returns {string[]} sentences that say what to do; empty when nothing is wrong
 */
export function migrationFaults(name, sql, earlier = []) {
  if (name <= LAST_FREE) return [];
  const statements = statementsOf(sql);
  const made = statements.map((statement) => NEW_TABLE.exec(statement)?.[1]);
  const isLarge = (/** @type {string | undefined} */ table) =>
    table !== undefined && LARGE_TABLES.includes(table) && !made.includes(table);
  return [
    ...indexFaults(name, statements, isLarge),
    ...tableFaults(name, statements, isLarge, earlier.flatMap(statementsOf)),
    ...lockFaults(name, statements, isLarge),
  ];
}

/**
 * A migration keeps its locks to its end. With one table locked it must not wait for a second, whose users may wait for the first.
 *
 * @param {string} name
 * @param {string[]} statements
 * @param {(table: string | undefined) => boolean} isLarge a large table that was there before the migration
 * @returns {string[]}
 */
function lockFaults(name, statements, isLarge) {
  const locked = new Set(statements.map(lockedBy).filter(isLarge));
  if (name <= LAST_OF_MANY || locked.size < 2) return [];
  return [`${name} locks ${[...locked].join(' and ')} together: alter each in a migration of its own.`];
}

/**
 * @param {string} statement
 * @returns {string | undefined} the table that nothing else writes, or reads, while it runs
 */
function lockedBy(statement) {
  const { table, actions } = alterationOf(statement) ?? { table: undefined, actions: [] };
  if (table === undefined) return TRIGGER.exec(statement)?.[1];
  return actions.every((action) => VALIDATE.test(action)) ? undefined : table;
}

/**
 * @param {string} name
 * @param {string[]} statements
 * @param {(table: string | undefined) => boolean} isLarge a large table that was there before the migration
 * @returns {string[]}
 */
function indexFaults(name, statements, isLarge) {
  const faults = statements.flatMap((statement) => {
    const [, concurrently, table] = INDEX.exec(statement) ?? [];
    const constrained = INDEX_OF_CONSTRAINT.exec(statement)?.[1];
    if (isLarge(table) && !concurrently) return [`${name} builds an index on ${table}: do it CONCURRENTLY.`];
    if (!isLarge(constrained)) return [];
    return [
      `${name} adds a constraint to ${constrained} that builds an index: build that CONCURRENTLY, then add it USING INDEX.`,
    ];
  });
  const isMixed = statements.length > 1 && statements.some((statement) => concurrentWorkOf(statement));
  if (isMixed) faults.push(`${name} has a CONCURRENTLY beside other statements: it needs a migration of its own.`);
  return faults;
}
