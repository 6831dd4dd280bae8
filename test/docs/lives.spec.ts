import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_FUNCTIONS, RIGHTS, ROLES } from '../../scripts/lib/prisma/database-rights.mjs';
import { ROOT, repositoryFiles } from './support/repository-files';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const structure = read('prisma/structure.sql');
const [, section = ''] = /^## How long data is kept\n([\s\S]*?)^## /m.exec(read('docs/operations.md')) ?? [];
/** Rows of the page: table, life, what ends it. */
const lives = [...section.matchAll(/^\| `(\w+)` +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, table = '', life = '', end = '']) => ({
    table,
    life,
    end,
  }),
);
const loops = repositoryFiles()
  .filter((path) => path.endsWith('.loop.ts'))
  .map((path) => /readonly name = '(.+)'/.exec(read(path))?.[1]);

/** Rows that stay: books, and what an operator makes. A table is added here with the reason in the page. */
const KEPT = [
  'engine_classes',
  'fleet_leases',
  'job_count_progress',
  'ledger_audit_progress',
  'ledger_days',
  'ledger_entries',
  'ledger_transactions',
  'operator_tokens',
  'payment_events',
  'payment_reversals',
  'pools',
  'top_ups',
];
const MAINTENANCE = ROLES.indexOf('millrace_maintenance');

/** Whether a process may delete rows of the table; null: any of them. */
function mayDelete(table: string, process: number | null): boolean {
  const rights = RIGHTS[table] ?? [];
  return rights.some((right, index) => right.includes('DELETE') && (process === null || process === index));
}

/** The foreign keys of the table to the other. */
function keysTo(table: string, parent: string): { columns: string[]; onDelete: string }[] {
  const key = new RegExp(
    `^ALTER TABLE ${table} ADD CONSTRAINT \\w+ FOREIGN KEY \\((.+?)\\) REFERENCES ${parent}\\(.* ON DELETE (\\w+);$`,
    'gm',
  );
  return [...structure.matchAll(key)].map(([, columns = '', onDelete = '']) => ({
    columns: columns.split(', '),
    onDelete,
  }));
}

/** Whether every row has a value in the column. */
function isNeverNull(table: string, column: string): boolean {
  const [, columns = ''] = new RegExp(`^CREATE TABLE ${table} \\(\\n([\\s\\S]*?)^\\)`, 'm').exec(structure) ?? [];
  return new RegExp(`^ {4}${column} .* NOT NULL,?$`, 'm').test(columns);
}

/** Whether a function deletes from the table. */
function deletesIn(name: string, table: string): boolean {
  const [body = ''] =
    new RegExp(`^CREATE OR REPLACE FUNCTION public\\.${name}\\([\\s\\S]*?^\\$function\\$;`, 'm').exec(structure) ?? [];
  return new RegExp(`DELETE FROM (public\\.)?${table}\\b`).test(body);
}

/** Whether a function of the owner, which a loop of the same name calls, deletes from the table. */
function deletesAsOwner(name: string, table: string): boolean {
  return `${name}(bigint, integer)` in OWNER_FUNCTIONS && deletesIn(name, table);
}

/** Whether rows of the table go when rows of another change. */
function deletesByTrigger(other: string, table: string): boolean {
  const trigger = new RegExp(`^CREATE TRIGGER .* UPDATE ON public\\.${other} .* EXECUTE FUNCTION (\\w+)\\(`, 'gm');
  return [...structure.matchAll(trigger)].some(([, name = '']) => deletesIn(name, table));
}

/** What is wrong with what the page says of a table's end; null: nothing. */
function faultOf({ table, life, end }: (typeof lives)[number]): string | null {
  const [, how, parent = ''] = /^(with|its) `(\w+)`$/.exec(end) ?? [];
  if (how === 'with') {
    return keysTo(table, parent).some(({ onDelete }) => onDelete === 'CASCADE')
      ? null
      : `no key that cascades from ${parent}`;
  }
  if (how === 'its') {
    const bound = keysTo(table, parent).some(({ columns }) => columns.every((column) => isNeverNull(table, column)));
    if (!bound) return `no key binds every row to ${parent}`;
    return mayDelete(table, null) ? 'a process may delete it' : null;
  }
  const [, other] = /^a trigger of `(\w+)`$/.exec(end) ?? [];
  if (other !== undefined) {
    if (!deletesByTrigger(other, table)) return `no trigger of ${other} deletes it`;
    return mayDelete(table, null) ? 'a process may delete it' : null;
  }
  if (end === 'kept') {
    if (!KEPT.includes(table)) return 'not among the tables that are kept';
    if (!life.startsWith('for good: ')) return 'no reason why it is kept';
    return mayDelete(table, null) ? 'a process may delete it' : null;
  }
  const [, named = '', what] = /^((?:`[a-z-]+`(?:, )?)+)(?: \((\w+)\))?$/.exec(end) ?? [];
  const names = [...named.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  if (names.length === 0) return `${end} is no end`;
  if (!names.every((name) => loops.includes(name))) return 'no such loop';
  if (what !== undefined) return RIGHTS[table]?.[MAINTENANCE]?.includes('UPDATE') ? null : 'its loop may not empty it';
  const isSweptByOwner = names.some((name = '') => deletesAsOwner(name.replaceAll('-', '_'), table));
  return isSweptByOwner || mayDelete(table, MAINTENANCE) ? null : 'its loop may not delete it';
}

describe('how long data is kept', () => {
  it('is said of every table of the schema, once, and of no other', () => {
    const tables = [...structure.matchAll(/^CREATE TABLE (\w+) \(/gm)].map(([, table]) => table);
    expect(lives.map(({ table }) => table).sort()).toEqual(tables.sort());
  });

  it.each(lives)('is true of $table: $end', (life) => {
    expect(faultOf(life)).toBeNull();
  });

  it.each([
    ['nothing', 'accounts', 'nothing is no end'],
    ['with `accounts`', 'balances', 'no key that cascades from accounts'],
    ['its `accounts`', 'audit_log', 'no key binds every row to accounts'],
    ['its `accounts`', 'upload_days', 'a process may delete it'],
    ['its `api_keys`', 'api_keys', 'no key binds every row to api_keys'],
    ['kept', 'audit_log', 'not among the tables that are kept'],
    ['a trigger of `accounts`', 'account_turns', 'no trigger of accounts deletes it'],
    ['`sweep-stars`', 'jobs', 'no such loop'],
    ['`sweep-blobs`', 'balances', 'its loop may not delete it'],
    ['`sweep-audit-log`', 'balances', 'its loop may not delete it'],
  ])('could not be %p of %s', (end, table, fault) => {
    expect(faultOf({ table, life: 'for good: books', end })).toBe(fault);
  });

  it('names loops that there are', () => {
    const named = [...section.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !loops.includes(name))).toEqual([]);
  });
});
