import { Prisma } from '@prisma/client';

/** A part of a statement: a name that later parts can refer to, and the query behind it. */
export interface NamedQuery {
  name: string;
  sql: Prisma.Sql;
}

/**
 * One statement out of named parts (a WITH clause) and a last query. PostgreSQL runs a part that writes whether or not it
 * is referred to, but in no order of its own: a part that must come after another selects from it.
 */
export function composeStatement(parts: NamedQuery[], last: Prisma.Sql): Prisma.Sql {
  if (parts.length === 0) return last;
  const named = parts.map(({ name, sql }) => Prisma.sql`${Prisma.raw(name)} AS (${sql})`);
  return Prisma.sql`WITH ${Prisma.join(named, ', ')} ${last}`;
}
