import { Controller } from '@nestjs/common';
import type { z } from 'zod';
import { AuditLog, type Act, type Operator } from '@millrace/accounts';
import { DeploymentsService, type Deployment, type DeploymentDraft } from '@millrace/deployments';
import { Lifecycle } from '@millrace/jobs';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { DeploymentPresenter } from './deployment.presenter';
import type { DeploymentCreateSchema } from './deployment.schemas';
import { createDeployment, readDeployment, startDeployment, stopDeployment } from './deployments.admin-endpoints';

/** Deployments, as operators manage them. */
@Controller()
export class DeploymentsAdminController {
  constructor(
    private readonly audit: AuditLog,
    private readonly deployments: DeploymentsService,
    private readonly lifecycle: Lifecycle,
    private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(createDeployment)
  async create({ operator, body }: InputOf<typeof createDeployment>): Promise<AnswerOf<typeof createDeployment>> {
    const created = await this.audit.record(operator, async (tx, note) => {
      const deployment = await this.deployments.create(tx, draftOf(body));
      const { account_id: _, ...details } = body;
      note({ ...actOn(deployment, 'create'), details });
      return deployment;
    });
    return this.presenter.presentToOperator(created);
  }

  @Serves(readDeployment)
  async read({ params }: InputOf<typeof readDeployment>): Promise<AnswerOf<typeof readDeployment>> {
    return this.presenter.presentToOperator(await this.deployments.getOfAny(params.id));
  }

  @Serves(startDeployment)
  async start({ operator, params }: InputOf<typeof startDeployment>): Promise<AnswerOf<typeof startDeployment>> {
    return this.presenter.presentToOperator(await this.want(operator, params.id, 'start'));
  }

  @Serves(stopDeployment)
  async stop({ operator, params }: InputOf<typeof stopDeployment>): Promise<AnswerOf<typeof stopDeployment>> {
    const stopped = await this.want(operator, params.id, 'stop');
    // The deployment is stopped by now: a loop takes back what this call does not.
    await this.lifecycle.recallFromStopped().catch(() => 0);
    return this.presenter.presentToOperator(stopped);
  }

  private async want(operator: Operator, id: string, verb: 'start' | 'stop'): Promise<Deployment> {
    const wanted = await this.audit.record(operator, async (tx, note) => {
      const { deployment, changed } = await this.deployments[verb](tx, id);
      note({ ...actOn(deployment, verb), details: { changed } });
      return deployment;
    });
    this.deployments.forget(id);
    return wanted;
  }
}

function actOn({ id, accountId }: Deployment, verb: string): Act {
  return { action: `deployment.${verb}`, subjectType: 'deployment', subjectId: id, accountId };
}

/** A demo costs its callers nothing unless its operator says otherwise. */
function draftOf(body: z.infer<typeof DeploymentCreateSchema>): DeploymentDraft {
  const price = body.price_micros_per_second ?? (body.demo ? 0 : undefined);
  return {
    accountId: body.account_id,
    name: body.name,
    demo: body.demo,
    engine: body.engine,
    priceMicrosPerSecond: price === undefined ? null : BigInt(price),
    queueLimit: body.queue_limit,
    attemptLimitSeconds: body.attempt_limit_seconds,
    minWorkers: body.min_workers,
    maxWorkers: body.max_workers ?? Math.max(1, body.min_workers),
  };
}
