import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** A part of a statement's plan that reads a table, as it was run. */
export interface Reading {
  /** What it does, such as `Index Scan`, and by which index. */
  node: string;
  index: string | null;
  /** How many rows it looked at. */
  rows: number;
}

/** Run a statement. @returns how it read a table. */
export async function readingsOf(database: Statements, sql: Prisma.Sql, table: string): Promise<Reading[]> {
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
  );
  const all = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(all)];
  const nodes = row === undefined ? [] : all(row['QUERY PLAN'][0].Plan);
  return nodes
    .filter((node) => node['Relation Name'] === table)
    .map((node) => ({
      node: node['Node Type'],
      index: node['Index Name'] ?? null,
      rows: (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    }));
}

/** @returns what `run` gives, and how many rows of a table its statements have read in this transaction: by an index, or one after the other. */
export async function readingRows<Result>(
  tx: Statements,
  table: string,
  run: () => Promise<Result>,
): Promise<{ result: Result; rows: number }> {
  const before = await rowsRead(tx, table);
  const result = await run();
  return { result, rows: (await rowsRead(tx, table)) - before };
}

/** By this session, since it last reported what it read: that is not at the end of each transaction. */
async function rowsRead(tx: Statements, table: string): Promise<number> {
  const [row] = await tx.rows<{ rows: number }>(Prisma.sql`
    SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables WHERE relname = ${table}`);
  return row?.rows ?? 0;
}
