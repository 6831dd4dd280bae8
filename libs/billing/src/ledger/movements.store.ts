import { Prisma } from '@prisma/client';
import { type Book, type LedgerKind } from './ledger';

/** The lines of a statement, as columns, and the kinds of transactions that each is the sum of. */
const LINES: readonly [column: string, kinds: readonly LedgerKind[]][] = [
  ['grants_micros', ['grant']],
  ['top_ups_micros', ['top_up']],
  ['charges_micros', ['hold', 'extend_hold', 'settle', 'release']],
  ['expiries_micros', ['expire']],
  ['corrections_micros', ['correction']],
];

/** The columns of the lines. */
export const LINE_COLUMNS = LINES.map(([column]) => column);

/** What the entries of a transaction change in a book, of an entry `e`. */
export const changeOf = (book: Book): Prisma.Sql => Prisma.sql`
  (CASE WHEN e.to_book = ${book} THEN e.amount_micros ELSE 0 END
    - CASE WHEN e.from_book = ${book} THEN e.amount_micros ELSE 0 END)`;

/** Every entry of an account in a span of time, as `at`, `kind` and `change`: of what is available and held together. */
export const movements = (accountId: Prisma.Sql, span: { from: Prisma.Sql; to: Prisma.Sql }): Prisma.Sql => Prisma.sql`
  SELECT t.at, t.kind, ${changeOf('available')} + ${changeOf('held')} AS change
  FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
  WHERE t.account_id = ${accountId} AND t.at >= ${span.from} AND t.at < ${span.to}`;

/** The lines as columns: their sums of `m`, which `movements` yields, where a condition is met. */
export const lineSums = (condition: Prisma.Sql): Prisma.Sql =>
  Prisma.join(
    LINES.map(
      ([column, kinds]) =>
        Prisma.sql`coalesce(sum(m.change) FILTER (WHERE m.kind = ANY(${[...kinds]}::text[]) AND ${condition}), 0)::bigint AS ${Prisma.raw(column)}`,
    ),
  );
