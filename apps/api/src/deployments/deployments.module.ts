import { Module } from '@nestjs/common';
import { DeploymentActs } from './deployment-acts';
import { DeploymentPresenter } from './deployment.presenter';
import { DeploymentsAdminController } from './deployments.admin-controller';
import { DeploymentsController } from './deployments.controller';
import { EngineClassesController } from './engine-classes.controller';

/** An account's deployments, to the account. */
@Module({
  controllers: [DeploymentsController, EngineClassesController],
  providers: [DeploymentActs, DeploymentPresenter],
})
export class DeploymentsModule {}

/** Deployments of all accounts, to operators. */
@Module({ controllers: [DeploymentsAdminController], providers: [DeploymentActs, DeploymentPresenter] })
export class DeploymentsAdminModule {}
