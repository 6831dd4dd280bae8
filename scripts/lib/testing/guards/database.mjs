import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const TRANSIENT = 'libs/database/src/transient.ts';
const FAILURES = ['libs/database/src/transient.spec'];
const APPLY = 'scripts/lib/prisma/apply-migration.mjs';
const MIGRATE = ['test/operations/migrate.e2e-spec'];

/** Of PostgreSQL: its connections, and what its failures mean. @type {Guard[]} */
export const DATABASE_GUARDS = [
  of(
    'nothing that holds a connection asks for another',
    'libs/database/src/database.ts',
    'if (this.refusesNested && holdingConnection.getStore() === this) throw',
    'if (false) throw',
    ['libs/database/src/database.int-spec'],
  ),
  of('a primary that became a standby is tried again', TRANSIENT, "  '25006',\n", '', FAILURES),
  of(
    'a server that stops or starts is tried again',
    TRANSIENT,
    "new Set(['08', '53', '57'])",
    "new Set(['08', '53'])",
    FAILURES,
  ),
  of(
    'a database that was dropped is not tried again',
    TRANSIENT,
    'return sqlstate !== DATABASE_DROPPED',
    'return true',
    FAILURES,
  ),
  of(
    'a process that starts waits for PostgreSQL',
    'libs/database/src/boot-retry.ts',
    'if (!isTransient(error) || performance',
    'if (isTransient(error) || performance',
    ['libs/database/src/boot-retry.spec'],
  ),
  of(
    'an output is recorded again after a failure of PostgreSQL that passes',
    'apps/worker/src/attempt/output-pipeline.ts',
    'isTransient(error) ? DATABASE_TRIES : 1',
    '1',
    ['apps/worker/src/attempt/output-pipeline.spec'],
  ),
  of(
    'the end of an attempt is recorded again while PostgreSQL is away',
    'apps/worker/src/attempt/report-end.ts',
    'if (performance.now() > until) throw error;',
    'throw error;',
    ['apps/worker/src/attempt/report-end.spec'],
  ),
  of(
    'statements do not queue behind a migration that waits',
    APPLY,
    'const LOCK_TIMEOUT_MS = 2_000',
    'const LOCK_TIMEOUT_MS = 0',
    MIGRATE,
  ),
  of('an index that was built half-way is built again', APPLY, 'found?.valid === false', 'found === null', MIGRATE),
  of(
    'a migration whose process was killed is awaited by the next run',
    'scripts/lib/prisma/migrate.mjs',
    'if (rows[0]?.taken) return;',
    'if (rows[0]) return;',
    MIGRATE,
  ),
];
