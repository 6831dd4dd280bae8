import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

let made = 0;

/**
 * Have PostgreSQL undo the next transaction that writes a row of a table, as the one that it chooses of some that wait for each other in a ring.
 *
 * @param sqlstate 40P01 for a deadlock, 40001 for a serialization failure.
 * @returns how many rows were written since, with the one that was undone.
 */
export async function undoNext(
  database: Statements,
  table: string,
  sqlstate: '40P01' | '40001' = '40P01',
): Promise<() => Promise<number>> {
  made += 1;
  const name = Prisma.raw(`undo_next_${made}`);
  // A sequence counts on where a transaction is undone.
  await database.execute(Prisma.sql`CREATE SEQUENCE ${name}`);
  await database.execute(Prisma.sql`
    CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('${name}') = 1 THEN
        RAISE EXCEPTION 'undone by a test' USING ERRCODE = '${Prisma.raw(sqlstate)}';
      END IF;
      RETURN coalesce(NEW, OLD);
    END
    $$`);
  await database.execute(Prisma.sql`
    CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE OR DELETE ON ${Prisma.raw(table)} FOR EACH ROW EXECUTE FUNCTION ${name}()`);
  return async () => {
    const [row] = await database.rows<{ count: number }>(Prisma.sql`
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS count FROM ${name}`);
    return row?.count ?? 0;
  };
}
