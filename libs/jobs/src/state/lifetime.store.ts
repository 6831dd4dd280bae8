import { Prisma } from '@prisma/client';

/** Of the time that a job is kept, the part in which it has to end. */
const LATEST_END = 0.9;

/**
 * The values of `deadline_at` and `expires_at`, as SQL. A job that has not ended by its deadline is `expired`, which can be read until
 * it is gone: so the deadline is always before (wire supplement, section 6), however short the job is kept.
 *
 * @param since from when both count.
 * @param keptSeconds how long the job is kept.
 * @param deadlineSeconds how long it may take to end.
 */
export function deadlineAndExpiry(since: Prisma.Sql, keptSeconds: Prisma.Sql, deadlineSeconds: number): Prisma.Sql {
  return Prisma.sql`${since} + make_interval(secs => least(${deadlineSeconds}::float8, ${LATEST_END}::float8 * ${keptSeconds})),
        ${since} + make_interval(secs => ${keptSeconds})`;
}
