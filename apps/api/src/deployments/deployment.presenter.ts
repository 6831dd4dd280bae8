import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Deployment } from '@millrace/deployments';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import type { DeploymentSchema, OperatedDeploymentSchema } from './deployment.schemas';

/** What a deployment looks like on the wire. */
@Injectable()
export class DeploymentPresenter {
  constructor(
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'deploymentDomain' | 'priceMicrosPerSecond'>,
  ) {}

  present(deployment: Deployment): z.infer<typeof DeploymentSchema> {
    const { id } = deployment;
    const { deploymentDomain: domain, priceMicrosPerSecond: defaultPrice } = this.settings;
    return {
      id,
      name: deployment.name,
      version: deployment.version,
      state: deployment.state,
      state_reason: deployment.stateReason,
      path: `/deployment/${id}`,
      host: domain === undefined ? null : `${id}.${domain}`,
      demo: deployment.demo,
      engine: deployment.engine,
      engine_class: deployment.engineClass,
      price_micros_per_second: Number(deployment.priceMicrosPerSecond ?? defaultPrice),
      queue_limit: deployment.queueLimit,
      attempt_limit_seconds: deployment.attemptLimitSeconds,
      min_workers: deployment.minWorkers,
      max_workers: deployment.maxWorkers,
      idle_seconds: deployment.idleSeconds,
      warm_up: deployment.warmUp === null ? null : (JSON.parse(deployment.warmUp) as Record<string, unknown>),
      models: deployment.models,
      ready_workers: deployment.readyWorkers,
      created_at: deployment.createdAt.toISOString(),
      started_at: deployment.startedAt.toISOString(),
      stopped_at: deployment.stoppedAt?.toISOString() ?? null,
      first_ready_at: deployment.firstReadyAt?.toISOString() ?? null,
      deleting_at: deployment.deletingAt?.toISOString() ?? null,
    };
  }

  /** With the fields that only operators see. */
  presentToOperator(deployment: Deployment): z.infer<typeof OperatedDeploymentSchema> {
    return { ...this.present(deployment), account_id: deployment.accountId, pool: deployment.poolId };
  }
}
