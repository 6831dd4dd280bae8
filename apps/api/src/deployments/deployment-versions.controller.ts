import { Controller } from '@nestjs/common';
import { DeploymentsService } from '@millrace/deployments';
import { Serves, actorOf, type AnswerOf, type InputOf } from '../endpoints';
import type { Printed } from '../http';
import { DeploymentActs } from './deployment-acts';
import { DeploymentPresenter } from './deployment.presenter';
import { withGraphText } from './graph-text';
import { DeploymentVersionActs } from './deployment-version-acts';
import {
  listDeploymentVersions,
  addDeploymentVersion,
  weighDeploymentVersion,
  rollBackDeployment,
  endDeploymentVersion,
} from './deployment-versions.endpoints';
import { presentVersions } from './deployment-versions.presenter';

type Answer = Printed<AnswerOf<typeof listDeploymentVersions>>;

/** The versions of the account's deployments. */
@Controller()
export class DeploymentVersionsController {
  constructor(
    private readonly deployments: DeploymentsService,
    private readonly versions: DeploymentVersionActs,
    private readonly acts: DeploymentActs,
    private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(listDeploymentVersions)
  async list(input: InputOf<typeof listDeploymentVersions>): Promise<Answer> {
    return presentVersions(
      this.presenter,
      await this.versions.list(await this.deployments.get(input.visitor.caller.accountId, input.params.id)),
    );
  }

  @Serves(addDeploymentVersion)
  async add(input: InputOf<typeof addDeploymentVersion>): Promise<Answer> {
    const id = await this.ownId(input);
    const added = await this.versions.add(
      actorOf(input.visitor.caller, input.request),
      id,
      withGraphText(input),
      this.acts.allowanceOf(input.visitor),
    );
    return presentVersions(this.presenter, added);
  }

  @Serves(weighDeploymentVersion)
  async weigh(input: InputOf<typeof weighDeploymentVersion>): Promise<Answer> {
    const id = await this.ownId(input);
    const version = Number(input.params.version);
    return presentVersions(
      this.presenter,
      await this.versions.weigh(
        actorOf(input.visitor.caller, input.request),
        id,
        version,
        input.body.weight,
        'account',
      ),
    );
  }

  @Serves(rollBackDeployment)
  async rollBack(input: InputOf<typeof rollBackDeployment>): Promise<Answer> {
    return presentVersions(
      this.presenter,
      await this.versions.rollBack(actorOf(input.visitor.caller, input.request), await this.ownId(input), 'account'),
    );
  }

  @Serves(endDeploymentVersion)
  async end(input: InputOf<typeof endDeploymentVersion>): Promise<Answer> {
    const id = await this.ownId(input);
    const ended = await this.versions.end(
      actorOf(input.visitor.caller, input.request),
      id,
      Number(input.params.version),
      'account',
    );
    return presentVersions(this.presenter, ended);
  }

  /** @throws Refusal `not_found` for a deployment of another account. */
  private async ownId({
    visitor,
    params,
  }: Pick<InputOf<typeof rollBackDeployment>, 'visitor' | 'params'>): Promise<string> {
    return (await this.deployments.get(visitor.caller.accountId, params.id)).id;
  }
}
