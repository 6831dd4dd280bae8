import { Prisma } from '@prisma/client';

/**
 * Every pool of every deployment, as `(deployment_id, pool_id)`: those of versions that have ended, too, where jobs may still run.
 * For the FROM of a statement.
 */
export const deploymentPools = Prisma.sql`(
  SELECT id AS deployment_id, pool_id FROM deployments
  UNION ALL SELECT deployment_id, pool_id FROM deployment_versions)`;

/**
 * The id of the deployment of a pool, also of a version that has ended: two look-ups, however many versions there ever were. Null for a shared pool.
 */
export const deploymentOfPool = (poolId: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce((SELECT of_pool.id FROM deployments of_pool WHERE of_pool.pool_id = ${poolId}),
           (SELECT of_pool.deployment_id FROM deployment_versions of_pool WHERE of_pool.pool_id = ${poolId}))`;

/** The deployment of a pool is stopped. Nothing is read of other versions, nor of other deployments that are stopped. */
export const isStoppedPool = (poolId: Prisma.Sql): Prisma.Sql => Prisma.sql`
  EXISTS (SELECT FROM deployments of_job WHERE of_job.id = ${deploymentOfPool(poolId)} AND of_job.desired_state = 'stopped')`;

/** Of a row of `jobs`, named by its bare columns: the version of its deployment that it is of, as `versionOfPool` says; null without one. */
export const versionOfJob = Prisma.sql`
  CASE WHEN deployment_id IS NOT NULL THEN coalesce(substring(pool_id FROM '-v([0-9]+)$')::int, 1) END`;
