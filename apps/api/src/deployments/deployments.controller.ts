import { Controller, Inject } from '@nestjs/common';
import { DeploymentsService } from '@millrace/deployments';
import { DeploymentPresenter } from './deployment.presenter';
import { DeploymentListSchema, DeploymentSchema } from './deployment.schemas';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { PlatformDoor, type PlatformInput } from '../endpoints/platform-door';

const common = { method: 'get', tag: 'deployments', scope: 'jobs:read' } as const;

const listDeployments = defineEndpoint({
  ...common,
  id: 'listDeployments',
  path: '/platform/v1/deployments',
  summary: 'List deployments',
  description: 'The deployments of the account, with their states, newest first.',
  answer: { status: 200, description: 'The deployments.', schema: DeploymentListSchema },
});

const getDeployment = defineEndpoint({
  ...common,
  id: 'getDeployment',
  path: '/platform/v1/deployments/{id}',
  summary: 'Read a deployment',
  description: 'Where it is, whether it takes jobs now, and on what terms.',
  answer: { status: 200, description: 'The deployment.', schema: DeploymentSchema },
});

/** The account's deployments. */
@Controller()
export class DeploymentsController {
  constructor(
    @Inject(PlatformDoor) readonly door: PlatformDoor,
    @Inject(DeploymentsService) private readonly deployments: DeploymentsService,
    @Inject(DeploymentPresenter) private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(listDeployments)
  async list({ caller }: PlatformInput<typeof listDeployments>): Promise<object> {
    const deployments = await this.deployments.list(caller.accountId);
    return { deployments: deployments.map((deployment) => this.presenter.present(deployment)) };
  }

  @Serves(getDeployment)
  async get({ caller, params }: PlatformInput<typeof getDeployment>): Promise<object> {
    return this.presenter.present(await this.deployments.get(caller.accountId, params.id));
  }
}
