import { Module } from '@nestjs/common';
import { DeploymentPresenter } from './deployment.presenter';
import { DeploymentsAdminController } from './deployments.admin-controller';
import { DeploymentsController } from './deployments.controller';

/** An account's deployments, to the account. */
@Module({ controllers: [DeploymentsController], providers: [DeploymentPresenter] })
export class DeploymentsModule {}

/** Deployments of all accounts, to operators. */
@Module({ controllers: [DeploymentsAdminController], providers: [DeploymentPresenter] })
export class DeploymentsAdminModule {}
