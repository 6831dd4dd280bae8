import { Controller } from '@nestjs/common';
import { DeploymentsService } from '@millrace/deployments';
import { Serves, actorOf, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import type { Printed } from '../http';
import { DeploymentActs, detailsOf, presentChange } from './deployment-acts';
import { presentStarts } from './deployment-starts';
import { DeploymentPresenter } from './deployment.presenter';
import { withGraphText } from './graph-text';
import {
  createOwnDeployment,
  deleteOwnDeployment,
  getDeployment,
  listDeploymentChanges,
  listDeploymentStarts,
  listDeployments,
  startOwnDeployment,
  stopOwnDeployment,
  updateOwnDeployment,
} from './deployments.endpoints';

type OnOwn = Pick<InputOf<typeof startOwnDeployment>, 'visitor' | 'params' | 'request'>;

/** The account's deployments. */
@Controller()
export class DeploymentsController {
  constructor(
    private readonly deployments: DeploymentsService,
    private readonly acts: DeploymentActs,
    private readonly presenter: DeploymentPresenter,
  ) {}

  @Serves(listDeployments)
  async list({ visitor }: InputOf<typeof listDeployments>): Promise<Printed<AnswerOf<typeof listDeployments>>> {
    return this.presenter.presentList(await this.deployments.list(visitor.caller.accountId));
  }

  @Serves(getDeployment)
  async get({ visitor, params }: InputOf<typeof getDeployment>): Promise<Printed<AnswerOf<typeof getDeployment>>> {
    return this.presenter.present(await this.deployments.get(visitor.caller.accountId, params.id));
  }

  @Serves(listDeploymentChanges)
  async changes({
    visitor,
    params,
    query,
  }: InputOf<typeof listDeploymentChanges>): Promise<AnswerOf<typeof listDeploymentChanges>> {
    const { id } = await this.deployments.get(visitor.caller.accountId, params.id);
    return presentPage('changes', await this.acts.changes(id, query), presentChange);
  }

  @Serves(listDeploymentStarts)
  async starts({
    visitor,
    params,
  }: InputOf<typeof listDeploymentStarts>): Promise<AnswerOf<typeof listDeploymentStarts>> {
    const deployment = await this.deployments.get(visitor.caller.accountId, params.id);
    return presentStarts(await this.acts.starts(deployment));
  }

  @Serves(createOwnDeployment)
  async create({
    visitor,
    request,
    ...input
  }: InputOf<typeof createOwnDeployment>): Promise<Printed<AnswerOf<typeof createOwnDeployment>>> {
    const body = withGraphText(input);
    const order = {
      accountId: visitor.caller.accountId,
      name: body.name,
      demo: false,
      engineClass: body.engine_class,
      priceMicrosPerSecond: null,
      queueLimit: body.queue_limit,
      attemptLimitSeconds: body.attempt_limit_seconds,
      minWorkers: body.min_workers,
      maxWorkers: body.max_workers ?? Math.max(1, body.min_workers),
      idleSeconds: body.idle_seconds,
      warmUp: body.warm_up,
      models: body.models,
    };
    const allowance = this.acts.allowanceOf(visitor);
    return this.presenter.present(
      await this.acts.create(actorOf(visitor.caller, request), order, detailsOf(body), allowance),
    );
  }

  @Serves(updateOwnDeployment)
  async update(input: InputOf<typeof updateOwnDeployment>): Promise<Printed<AnswerOf<typeof updateOwnDeployment>>> {
    const id = await this.ownId(input);
    const allowance = this.acts.allowanceOf(input.visitor);
    return this.presenter.present(await this.acts.change(actor(input), id, withGraphText(input), allowance));
  }

  @Serves(startOwnDeployment)
  async start(input: InputOf<typeof startOwnDeployment>): Promise<Printed<AnswerOf<typeof startOwnDeployment>>> {
    return this.presenter.present(await this.acts.want(actor(input), await this.ownId(input), 'start'));
  }

  @Serves(stopOwnDeployment)
  async stop(input: InputOf<typeof stopOwnDeployment>): Promise<Printed<AnswerOf<typeof stopOwnDeployment>>> {
    return this.presenter.present(await this.acts.want(actor(input), await this.ownId(input), 'stop'));
  }

  @Serves(deleteOwnDeployment)
  async remove(input: InputOf<typeof deleteOwnDeployment>): Promise<void> {
    await this.acts.remove(actor(input), await this.ownId(input), input.query.drain === 'true');
  }

  /** @throws Refusal `not_found` for a deployment of another account. */
  private async ownId({ visitor, params }: OnOwn): Promise<string> {
    return (await this.deployments.get(visitor.caller.accountId, params.id)).id;
  }
}

const actor = ({ visitor, request }: OnOwn): ReturnType<typeof actorOf> => actorOf(visitor.caller, request);
