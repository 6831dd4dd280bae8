import { Controller } from '@nestjs/common';
import { DeploymentsService } from '@millrace/deployments';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { DeploymentPresenter } from './deployment.presenter';
import { getDeployment, listDeployments } from './deployments.endpoints';

/** The account's deployments. */
@Controller()
export class DeploymentsController {
  constructor(
    private readonly deployments: DeploymentsService,
    private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(listDeployments)
  async list({ visitor }: InputOf<typeof listDeployments>): Promise<AnswerOf<typeof listDeployments>> {
    const deployments = await this.deployments.list(visitor.caller.accountId);
    return { deployments: deployments.map((deployment) => this.presenter.present(deployment)) };
  }

  @Serves(getDeployment)
  async get({ visitor, params }: InputOf<typeof getDeployment>): Promise<AnswerOf<typeof getDeployment>> {
    return this.presenter.present(await this.deployments.get(visitor.caller.accountId, params.id));
  }
}
