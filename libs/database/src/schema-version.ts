import { Prisma } from '@prisma/client';
import { BootError, type Logger } from '@millrace/platform';
import { sqlStateOf } from './errors';
import { BOOT_TIMEOUT_MS, retryWhileStarting } from './boot-retry';
import type { Statements } from './database';

/**
 * The migration that this version of the code needs. Later ones only add (expand, backfill, contract), so a process of
 * this version keeps working on them.
 */
export const REQUIRED_MIGRATION = '20270125040200_withdrawn_outputs';

const LOOK_EVERY_MS = 100;

/** SQLSTATEs. */
const UNDEFINED_TABLE = '42P01';
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Refuse to run on a database with another schema than this code needs. What a later version begins is not its concern.
 *
 * @returns the migration of a later version that did not finish, where there is one.
 * @throws BootError with the cure when the schema is absent, behind, or half migrated, or may not be looked at.
 */
export async function assertSchema(database: Statements): Promise<string | undefined> {
  const rows = await retryWhileStarting(BOOT_TIMEOUT_MS, () => readMigrations(database));
  const unfinished = rows.flatMap((row) =>
    row.finishedAt === null && row.rolledBackAt === null ? [row.migrationName] : [],
  );
  const needed = unfinished.find((name) => name <= REQUIRED_MIGRATION);
  if (needed !== undefined) {
    throw new BootError(`The migration ${needed} did not finish; run the migrations again.`);
  }
  if (!rows.some((row) => row.migrationName === REQUIRED_MIGRATION && row.finishedAt !== null)) {
    throw new BootError(`The database lacks the migration ${REQUIRED_MIGRATION}; run the migrations first.`);
  }
  return unfinished[0];
}

/**
 * Wait until the database has the schema that this code needs: the migrations may run while its processes start.
 *
 * @param timeoutMs gives up after this long.
 * @throws BootError as `assertSchema` does, when the migrations are not applied by then.
 */
export async function awaitSchema(
  database: Statements,
  logger: Pick<Logger, 'warn'>,
  timeoutMs = BOOT_TIMEOUT_MS,
): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (let warned = false; ; warned = true) {
    try {
      const later = await assertSchema(database);
      if (later !== undefined) logger.warn(`The migration ${later}, which this version does not need, did not finish.`);
      return;
    } catch (error) {
      if (!(error instanceof BootError) || performance.now() > until) throw error;
      if (!warned) logger.warn(`${error.message} Waiting for that.`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

interface Migration {
  migrationName: string;
  finishedAt: Date | null;
  rolledBackAt: Date | null;
}

/** @throws BootError where the user may not read which migrations are applied. */
async function readMigrations(database: Statements): Promise<Migration[]> {
  try {
    return await database.rows<Migration>(
      Prisma.sql`SELECT migration_name, finished_at, rolled_back_at FROM _prisma_migrations`,
    );
  } catch (error) {
    switch (sqlStateOf(error)) {
      case UNDEFINED_TABLE:
        return [];
      case INSUFFICIENT_PRIVILEGE:
        throw new BootError(
          'The user of DATABASE_URL may not read the table _prisma_migrations: make it a member of the role of this process (millrace_api, millrace_worker or millrace_maintenance), or its owner.',
        );
      default:
        throw error;
    }
  }
}
