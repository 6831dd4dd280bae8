import { Prisma } from '@prisma/client';

/** The `RetryPolicy` of the row `j` of a job, as SQL; null where none of its failures is tried again. */
export const retryPolicyOf = Prisma.sql`
  CASE WHEN j.retry_max > 0 THEN json_build_object('max', j.retry_max, 'on', j.retry_codes, 'pause_seconds', j.retry_pause_seconds) END`;
