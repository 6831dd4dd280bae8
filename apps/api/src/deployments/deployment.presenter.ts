import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Deployment } from '@millrace/deployments';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Printed } from '../http';
import { graphDigest } from './graph-digest';
import { printWithGraph } from './graph-text';
import type { DeploymentSchema, OperatedDeploymentSchema } from './deployment.schemas';

type Shown = z.infer<typeof DeploymentSchema>;

/** What a deployment looks like on the wire. */
@Injectable()
export class DeploymentPresenter {
  constructor(
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'deploymentDomain' | 'priceMicrosPerSecond'>,
  ) {}

  present(deployment: Deployment): Printed<Shown> {
    return new Printed(printWithGraph(this.facts(deployment), deployment.warmUp));
  }

  presentList(deployments: Deployment[]): Printed<{ deployments: Shown[] }> {
    return new Printed(`{"deployments":[${deployments.map((deployment) => this.present(deployment).text).join()}]}`);
  }

  /** With the fields that only operators see, and without the graph that is the customer's. */
  presentToOperator(deployment: Deployment): z.infer<typeof OperatedDeploymentSchema> {
    const { accountId, poolId, warmUp } = deployment;
    return { ...this.facts(deployment), warm_up: graphDigest(warmUp), account_id: accountId, pool: poolId };
  }

  /** All but the graph. */
  facts(deployment: Deployment): Omit<Shown, 'warm_up'> {
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
      models: deployment.models,
      ready_workers: deployment.readyWorkers,
      created_at: deployment.createdAt.toISOString(),
      started_at: deployment.startedAt.toISOString(),
      stopped_at: deployment.stoppedAt?.toISOString() ?? null,
      first_ready_at: deployment.firstReadyAt?.toISOString() ?? null,
      deleting_at: deployment.deletingAt?.toISOString() ?? null,
    };
  }
}
