import { Prisma } from '@prisma/client';

/**
 * A page shows what it finds among as many rows of its list, so that a filter for which there is no index, and which few rows match, costs no more
 * than another. It may have fewer rows than its limit for that, or none, and still not be the last.
 */
export const LOOKED_AT = 1_000;

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The rows of a list in the order of an index, and which of them it shows. */
export interface LookedAtList {
  /** A table. Conditions and the statement around it name its rows by the alias. */
  table: string;
  alias: string;
  /** Which rows are looked at, and in which order: one index answers for both. */
  within: Prisma.Sql;
  order: Prisma.Sql;
  /** Those of them that are shown match all of these. */
  shown: readonly Prisma.Sql[];
  /** Of the page; one more is read where there is one. */
  limit: number;
  /** How many are looked at at most. */
  rows?: number;
}

/** A row that was looked at: the how manieth it is, and whether it is shown. */
export interface LookedAtRow {
  nth: number;
  isShown: boolean;
}

/** A selection of the rows that a list shows, and of the last that it looks at, for the statement around it to take columns from. */
export function lookedAt({ table, alias, within, order, shown, limit, rows = LOOKED_AT }: LookedAtList): Prisma.Sql {
  // The number stands in the text: of a parameter the planner would expect a tenth of the table (README).
  const [from, x, most] = [Prisma.raw(table), Prisma.raw(alias), Prisma.raw(String(rows))];
  const isShown = shown.length === 0 ? Prisma.sql`true` : Prisma.join([...shown], ' AND ');
  return Prisma.sql`
    SELECT * FROM (
      SELECT ${x}.*, (row_number() OVER (ORDER BY ${order}))::int AS nth, (${isShown}) AS is_shown FROM (
        SELECT * FROM ${from} ${x} WHERE ${within} ORDER BY ${order} LIMIT ${most}
      ) ${x}
    ) ${x}
    WHERE ${x}.is_shown OR ${x}.nth = ${most} ORDER BY ${order} LIMIT ${limit + 1}`;
}

/**
 * What a page shows of the `LOOKED_AT` rows that `lookedAt` found, and the row behind which the next one begins: the last that is shown, or the last that
 * was looked at. Null: there are no more.
 */
export function pageOfLookedAt<Row extends LookedAtRow>(
  rows: readonly Row[],
  limit: number,
): { shown: Row[]; last: Row | null } {
  const shown = rows.filter(({ isShown }) => isShown);
  if (shown.length > limit) return { shown: shown.slice(0, limit), last: shown[limit - 1] ?? null };
  const last = rows.at(-1);
  return { shown, last: last?.nth === LOOKED_AT ? last : null };
}

/** A span of a list in the order of ids. */
export interface IdSpan {
  /** Behind this id; null: from the first. */
  after: string | null;
  /** Before this id; null: to the last. */
  before: string | null;
  oldestFirst?: boolean;
}

/** Whose rows they are: a column, and what is in it. */
export interface RowOwner {
  column: string;
  value: Prisma.Sql;
}

/**
 * A span of the rows of one owner, by the index of owner and id, such as `account_id, id`. Both are compared at once, and both are the order: of
 * `owner = … ORDER BY id` the planner may take the primary key to be as good, and walk the rows of all others.
 *
 * @param owner null: the rows of all, by the primary key.
 */
export function byId(
  alias: string,
  owner: RowOwner | null,
  { after, before, oldestFirst = false }: IdSpan,
): Pick<LookedAtList, 'within' | 'order'> {
  const columns = [...(owner === null ? [] : [owner.column]), 'id'].map((column) => Prisma.raw(`${alias}.${column}`));
  const placeOf = (id: string): Prisma.Sql =>
    Prisma.sql`(${Prisma.join([...(owner === null ? [] : [owner.value]), Prisma.sql`${id}::uuid`])})`;
  const own = Prisma.sql`(${Prisma.join(columns)})`;
  const direction = Prisma.raw(oldestFirst ? 'ASC' : 'DESC');
  return {
    within: Prisma.sql`${own} > ${placeOf(after ?? LOWEST_ID)} AND ${own} < ${placeOf(before ?? HIGHEST_ID)}`,
    order: Prisma.join(columns.map((column) => Prisma.sql`${column} ${direction}`)),
  };
}
