import { Controller, Inject } from '@nestjs/common';
import type { z } from 'zod';
import { AuditLog, type Act, type Operator } from '@millrace/accounts';
import { DeploymentsService, type Deployment, type DeploymentDraft } from '@millrace/deployments';
import { Lifecycle } from '@millrace/jobs';
import { DeploymentPresenter } from './deployment.presenter';
import { DeploymentCreateSchema, OperatedDeploymentSchema } from './deployment.schemas';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const common = { method: 'post', tag: 'deployments' } as const;
const answer = { status: 200, description: 'The deployment as it is now.', schema: OperatedDeploymentSchema } as const;

const createDeployment = defineEndpoint({
  ...common,
  id: 'createDeployment',
  path: '/admin/v1/deployments',
  summary: 'Make a deployment',
  description:
    'A surface with a pool, a lane and a node catalogue of its own. It takes jobs as soon as a worker with its `pool` as ' +
    'MILLRACE_POOL is ready.',
  body: DeploymentCreateSchema,
  answer: { status: 201, description: 'The deployment was made.', schema: OperatedDeploymentSchema },
  errors: ['not_found'],
});

const readDeployment = defineEndpoint({
  id: 'readDeployment',
  method: 'get',
  tag: 'deployments',
  path: '/admin/v1/deployments/{id}',
  summary: 'Read a deployment',
  description: 'A deployment of any account.',
  answer,
});

const startDeployment = defineEndpoint({
  ...common,
  id: 'startDeployment',
  path: '/admin/v1/deployments/{id}/start',
  summary: 'Start a deployment',
  description: 'Jobs that waited go on. Starting one that is not stopped changes nothing.',
  answer,
});

const stopDeployment = defineEndpoint({
  ...common,
  id: 'stopDeployment',
  path: '/admin/v1/deployments/{id}/stop',
  summary: 'Stop a deployment',
  description:
    'It takes no jobs and starts none. What runs is let run to its end; what waits waits until it is started again, or ' +
    'expires by its deadline. Jobs, assets and logs can be read as before.',
  answer,
});

/** Deployments, as operators manage them. */
@Controller()
export class DeploymentsAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AuditLog) private readonly audit: AuditLog,
    @Inject(DeploymentsService) private readonly deployments: DeploymentsService,
    @Inject(Lifecycle) private readonly lifecycle: Lifecycle,
    @Inject(DeploymentPresenter) private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(createDeployment)
  async create({ operator, body }: AdminInput<typeof createDeployment>): Promise<object> {
    const created = await this.audit.record(operator, async (tx, note) => {
      const deployment = await this.deployments.create(tx, draftOf(body));
      const { account_id: _, ...details } = body;
      note({ ...actOn(deployment, 'create'), details });
      return deployment;
    });
    return this.presenter.presentToOperator(created);
  }

  @Serves(readDeployment)
  async read({ params }: AdminInput<typeof readDeployment>): Promise<object> {
    return this.presenter.presentToOperator(await this.deployments.getOfAny(params.id));
  }

  @Serves(startDeployment)
  async start({ operator, params }: AdminInput<typeof startDeployment>): Promise<object> {
    return this.presenter.presentToOperator(await this.want(operator, params.id, 'start'));
  }

  @Serves(stopDeployment)
  async stop({ operator, params }: AdminInput<typeof stopDeployment>): Promise<object> {
    const stopped = await this.want(operator, params.id, 'stop');
    // The deployment is stopped by now: what is not taken back at once, a loop takes back.
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
    minWorkers: body.min_workers,
    maxWorkers: body.max_workers ?? Math.max(1, body.min_workers),
  };
}
