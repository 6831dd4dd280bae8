import { Prisma } from '@prisma/client';
import type { ModelName } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { WorkerStart } from './worker-start';

/** How many of the latest starts are shown. */
const SHOWN_STARTS = 20;

/** What a worker of a pool is to run before it is ready. */
export interface WarmUp {
  /** A graph in API format. */
  workflow: string;
  /** Whose library has the models that it names. */
  accountId: string;
}

/** Models of a library that a worker of a pool is to have before it is ready. */
export interface PoolModels {
  /** Whose library has them. */
  accountId: string;
  /** In the order in which they are to come. */
  models: ModelName[];
}

/** The SQL of how workers start. */
export class WorkerStartStore {
  /** @returns null where the workers of a pool run nothing before they are ready. */
  async warmUp(tx: Statements, poolId: string): Promise<WarmUp | null> {
    const [row] = await tx.rows<WarmUp>(Prisma.sql`
      SELECT warm_up AS workflow, account_id FROM deployments WHERE pool_id = ${poolId} AND warm_up IS NOT NULL
      UNION ALL
      SELECT v.warm_up AS workflow, d.account_id FROM deployment_versions v JOIN deployments d ON d.id = v.deployment_id
      WHERE v.pool_id = ${poolId} AND v.warm_up IS NOT NULL`);
    return row ?? null;
  }

  /** @returns null where the deployment of a pool names no models, or its version has ended. */
  async models(tx: Statements, poolId: string): Promise<PoolModels | null> {
    const [row] = await tx.rows<PoolModels>(Prisma.sql`
      SELECT models, account_id FROM deployments WHERE pool_id = ${poolId} AND models <> '[]' AND deleted_at IS NULL
      UNION ALL
      SELECT v.models, d.account_id FROM deployment_versions v JOIN deployments d ON d.id = v.deployment_id
      WHERE v.pool_id = ${poolId} AND v.models <> '[]' AND v.ended_at IS NULL AND d.deleted_at IS NULL`);
    return row ?? null;
  }

  /** The latest starts of workers of these pools, the latest first. */
  async latest(tx: Statements, poolIds: readonly string[]): Promise<WorkerStart[]> {
    return tx.rows(Prisma.sql`
      SELECT id AS worker_id, pool_id, schedule_ms, pull_ms, boot_ms, models_ms, warm_up_ms, ready_at
      FROM workers WHERE pool_id = ANY(${[...poolIds]}::text[]) AND ready_at IS NOT NULL
      ORDER BY ready_at DESC, id DESC LIMIT ${SHOWN_STARTS}`);
  }
}
