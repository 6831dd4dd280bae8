import { Controller } from '@nestjs/common';
import { DeploymentsService } from '@millrace/deployments';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { DeploymentPresenter } from './deployment.presenter';
import { withGraphText } from './graph-text';
import { DeploymentVersionActs } from './deployment-version-acts';
import { readVersions, addVersion, weighVersion, rollBack, endVersion } from './deployment-versions.admin-endpoints';
import { presentVersionsToOperator } from './deployment-versions.presenter';

type Answer = AnswerOf<typeof readVersions>;

/** The versions of deployments, as operators manage them. */
@Controller()
export class DeploymentVersionsAdminController {
  constructor(
    private readonly deployments: DeploymentsService,
    private readonly versions: DeploymentVersionActs,
    private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(readVersions)
  async list(input: InputOf<typeof readVersions>): Promise<Answer> {
    return presentVersionsToOperator(
      this.presenter,
      await this.versions.list(await this.deployments.getOfAny(input.params.id)),
    );
  }

  @Serves(addVersion)
  async add(input: InputOf<typeof addVersion>): Promise<Answer> {
    const id = input.params.id;
    const added = await this.versions.add(input.operator, id, withGraphText(input), null);
    return presentVersionsToOperator(this.presenter, added);
  }

  @Serves(weighVersion)
  async weigh(input: InputOf<typeof weighVersion>): Promise<Answer> {
    const id = input.params.id;
    const version = Number(input.params.version);
    return presentVersionsToOperator(
      this.presenter,
      await this.versions.weigh(input.operator, id, version, input.body.weight, 'operator'),
    );
  }

  @Serves(rollBack)
  async rollBack(input: InputOf<typeof rollBack>): Promise<Answer> {
    return presentVersionsToOperator(
      this.presenter,
      await this.versions.rollBack(input.operator, input.params.id, 'operator'),
    );
  }

  @Serves(endVersion)
  async end(input: InputOf<typeof endVersion>): Promise<Answer> {
    const id = input.params.id;
    const ended = await this.versions.end(input.operator, id, Number(input.params.version), 'operator');
    return presentVersionsToOperator(this.presenter, ended);
  }
}
