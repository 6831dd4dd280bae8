import type { z } from 'zod';
import type { Deployment } from '@millrace/deployments';
import type { DeploymentSchema, OperatedDeploymentSchema } from './deployment.schemas';

/** What a deployment looks like on the wire. */
export class DeploymentPresenter {
  constructor(
    private readonly domain: string | undefined,
    private readonly defaultPriceMicrosPerSecond: bigint,
  ) {}

  present(deployment: Deployment): z.infer<typeof DeploymentSchema> {
    const { id } = deployment;
    return {
      id,
      name: deployment.name,
      state: deployment.state,
      path: `/deployment/${id}`,
      host: this.domain === undefined ? null : `${id}.${this.domain}`,
      demo: deployment.demo,
      engine: deployment.engine,
      price_micros_per_second: Number(deployment.priceMicrosPerSecond ?? this.defaultPriceMicrosPerSecond),
      queue_limit: deployment.queueLimit,
      min_workers: deployment.minWorkers,
      max_workers: deployment.maxWorkers,
      ready_workers: deployment.readyWorkers,
      created_at: deployment.createdAt.toISOString(),
      started_at: deployment.startedAt.toISOString(),
      stopped_at: deployment.stoppedAt?.toISOString() ?? null,
      first_ready_at: deployment.firstReadyAt?.toISOString() ?? null,
    };
  }

  /** With what only operators are told. */
  presentToOperator(deployment: Deployment): z.infer<typeof OperatedDeploymentSchema> {
    return { ...this.present(deployment), account_id: deployment.accountId, pool: deployment.poolId };
  }
}
