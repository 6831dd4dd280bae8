import { Module } from '@nestjs/common';
import { DeploymentActs } from './deployment-acts';
import { DeploymentVersionActs } from './deployment-version-acts';
import { DeploymentVersionsAdminController } from './deployment-versions.admin-controller';
import { DeploymentVersionsController } from './deployment-versions.controller';
import { DeploymentPresenter } from './deployment.presenter';
import { DeploymentsAdminController } from './deployments.admin-controller';
import { DeploymentsController } from './deployments.controller';
import { EngineClassesController } from './engine-classes.controller';

/** An account's deployments, to the account. */
@Module({
  controllers: [DeploymentsController, DeploymentVersionsController, EngineClassesController],
  providers: [DeploymentActs, DeploymentVersionActs, DeploymentPresenter],
})
export class DeploymentsModule {}

/** Deployments of all accounts, to operators. */
@Module({
  controllers: [DeploymentsAdminController, DeploymentVersionsAdminController],
  providers: [DeploymentActs, DeploymentVersionActs, DeploymentPresenter],
})
export class DeploymentsAdminModule {}
