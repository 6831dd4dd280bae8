import type pg from 'pg';

/** Columns by the names that they have in code. Their number is that of the columns that statements name. */
const names = new Map<string, string>();

/** The name of a column in code: `account_id` is `accountId`. */
function camelCase(column: string): string {
  let name = names.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, next: string) => next.toUpperCase());
    names.set(column, name);
  }
  return name;
}

/** Makes a row of the values of one result. */
type MakeRow = (values: readonly unknown[]) => object;

/** By the columns of results, in order. Their number is that of the lists of columns that statements ask for. */
const makers = new Map<string, MakeRow>();

/**
 * A function that is one object literal: all rows of a statement have one shape, which the engine reads and copies fast. Rows
 * to which one name after the other is added become dictionaries where they have twenty columns or so, and making and copying those
 * shows in the profile of a poll. No value is part of the source: it names the columns of our own statements, quoted.
 */
function makerOf(columns: readonly string[]): MakeRow {
  const key = columns.join();
  let maker = makers.get(key);
  if (maker === undefined) {
    const fields = columns.map((column, at) => `${JSON.stringify(camelCase(column))}: values[${at}]`);
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the only way to make a literal of columns known at run time
    maker = new Function('values', `return { ${fields.join(', ')} };`) as MakeRow;
    makers.set(key, maker);
  }
  return maker;
}

/** Rows out of a result that was asked for as arrays, so that no store has to rename columns. */
export function rowsOf<T>({ fields, rows }: pg.QueryArrayResult<unknown[]>): T[] {
  return rows.map(makerOf(fields.map((field) => field.name))) as T[];
}

/** Rows that came with the names of their columns. */
export function renamed<T>(rows: Record<string, unknown>[]): T[] {
  return rows.map((row) => {
    const named: Record<string, unknown> = {};
    for (const column in row) named[camelCase(column)] = row[column];
    return named as T;
  });
}
