import { Prisma } from '@prisma/client';

/**
 * Every pool of every deployment, as `(deployment_id, pool_id)`: those of versions that have ended, too, where jobs may still run.
 * For the FROM of a statement.
 */
export const deploymentPools = Prisma.sql`(
  SELECT id AS deployment_id, pool_id FROM deployments
  UNION ALL SELECT deployment_id, pool_id FROM deployment_versions)`;

/** Of a row of `jobs`, named by its bare columns: the version of its deployment that it is of, as `versionOfPool` says; null without one. */
export const versionOfJob = Prisma.sql`
  CASE WHEN deployment_id IS NOT NULL THEN coalesce(substring(pool_id FROM '-v([0-9]+)$')::int, 1) END`;
