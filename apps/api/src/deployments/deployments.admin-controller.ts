import { Controller } from '@nestjs/common';
import type { z } from 'zod';
import { DeploymentsService, type DeploymentOrder } from '@millrace/deployments';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { DeploymentActs, detailsOf, presentChange } from './deployment-acts';
import { presentStarts } from './deployment-starts';
import { DeploymentPresenter } from './deployment.presenter';
import { withGraphText, type WithGraphText } from './graph-text';
import type { DeploymentCreateSchema } from './deployment.schemas';
import {
  createDeployment,
  deleteDeployment,
  listAllDeployments,
  readDeployment,
  readDeploymentChanges,
  readDeploymentStarts,
  startDeployment,
  stopDeployment,
  updateDeployment,
} from './deployments.admin-endpoints';

/** Deployments, as operators manage them. */
@Controller()
export class DeploymentsAdminController {
  constructor(
    private readonly deployments: DeploymentsService,
    private readonly acts: DeploymentActs,
    private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(createDeployment)
  async create({ operator, ...input }: InputOf<typeof createDeployment>): Promise<AnswerOf<typeof createDeployment>> {
    const body = withGraphText(input);
    const { account_id: _, ...details } = body;
    return this.presenter.presentToOperator(await this.acts.create(operator, orderOf(body), detailsOf(details), null));
  }

  @Serves(listAllDeployments)
  async list({ query }: InputOf<typeof listAllDeployments>): Promise<AnswerOf<typeof listAllDeployments>> {
    const page = await this.deployments.listOfAll(query);
    return presentPage('deployments', page, (deployment) => this.presenter.presentToOperator(deployment));
  }

  @Serves(readDeployment)
  async read({ params }: InputOf<typeof readDeployment>): Promise<AnswerOf<typeof readDeployment>> {
    return this.presenter.presentToOperator(await this.deployments.getOfAny(params.id));
  }

  @Serves(updateDeployment)
  async update({
    operator,
    params,
    ...input
  }: InputOf<typeof updateDeployment>): Promise<AnswerOf<typeof updateDeployment>> {
    return this.presenter.presentToOperator(await this.acts.change(operator, params.id, withGraphText(input), null));
  }

  @Serves(startDeployment)
  async start({ operator, params }: InputOf<typeof startDeployment>): Promise<AnswerOf<typeof startDeployment>> {
    return this.presenter.presentToOperator(await this.acts.want(operator, params.id, 'start'));
  }

  @Serves(stopDeployment)
  async stop({ operator, params }: InputOf<typeof stopDeployment>): Promise<AnswerOf<typeof stopDeployment>> {
    return this.presenter.presentToOperator(await this.acts.want(operator, params.id, 'stop'));
  }

  @Serves(deleteDeployment)
  async remove({ operator, params, query }: InputOf<typeof deleteDeployment>): Promise<void> {
    await this.acts.remove(operator, params.id, query.drain === 'true');
  }

  @Serves(readDeploymentStarts)
  async starts({ params }: InputOf<typeof readDeploymentStarts>): Promise<AnswerOf<typeof readDeploymentStarts>> {
    return presentStarts(await this.acts.starts(await this.deployments.getOfAny(params.id)));
  }

  @Serves(readDeploymentChanges)
  async changes({
    params,
    query,
  }: InputOf<typeof readDeploymentChanges>): Promise<AnswerOf<typeof readDeploymentChanges>> {
    const { id } = await this.deployments.getOfAny(params.id);
    return presentPage('changes', await this.acts.changes(id, query), presentChange);
  }
}

/** A demo costs its callers nothing unless its operator says otherwise. */
function orderOf(body: WithGraphText<z.infer<typeof DeploymentCreateSchema>>): DeploymentOrder {
  const price = body.price_micros_per_second ?? (body.demo ? 0 : undefined);
  return {
    accountId: body.account_id,
    name: body.name,
    demo: body.demo,
    engineClass: body.engine_class ?? body.engine,
    ...(body.engine_class === undefined && { engine: body.engine }),
    priceMicrosPerSecond: price === undefined ? null : BigInt(price),
    queueLimit: body.queue_limit,
    attemptLimitSeconds: body.attempt_limit_seconds,
    minWorkers: body.min_workers,
    maxWorkers: body.max_workers ?? Math.max(1, body.min_workers),
    idleSeconds: body.idle_seconds,
    warmUp: body.warm_up,
    models: body.models,
  };
}
