import { Controller } from '@nestjs/common';
import { Database } from '@millrace/database';
import { PoolStore, type ListedPool } from '@millrace/deployments';
import { AccountQueues } from '@millrace/jobs';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { listPools } from './pools.endpoints';

/** Pools, as operators see them. */
@Controller()
export class PoolsController {
  constructor(
    private readonly database: Database,
    private readonly pools: PoolStore,
    private readonly queues: AccountQueues,
  ) {}

  @Serves(listPools)
  async list(_input: InputOf<typeof listPools>): Promise<AnswerOf<typeof listPools>> {
    const working = await this.queues.workingPools();
    return { pools: (await this.pools.list(this.database, working)).map(presentPool) };
  }
}

function presentPool(pool: ListedPool): AnswerOf<typeof listPools>['pools'][number] {
  return {
    id: pool.id,
    engine: pool.engine,
    deployment_id: pool.deploymentId,
    deployment_name: pool.deploymentName,
    account_id: pool.accountId,
    account_name: pool.accountName,
    node_count: pool.nodeCount,
    queue_limit: pool.queueLimit,
    attempt_limit_seconds: pool.attemptLimitSeconds,
    created_at: pool.createdAt.toISOString(),
  };
}
