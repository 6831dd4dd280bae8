import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { GATEWAY_PATH, GatewayModelNamesSchema, Refusal, type ModelFile } from '@millrace/contracts';
import { Database } from '@millrace/database';
import { WorkerStartStore, type WorkerTokenHolder } from '@millrace/deployments';
import { ModelLibrarySource } from '@millrace/models';
import { Metrics } from '@millrace/platform';
import { Gone, Holder, Json, WorkerTokenGuard } from '../http';
import { among, digestOf, namesIn, rangeOf, sendPart } from './model-request';

/**
 * The models of the library that the warm-up of a pool's deployment names, for a worker of the pool: it holds no attempt yet. It finds
 * and reads those of the graph, as it is now, and no other of the account.
 */
@Controller(`${GATEWAY_PATH}/warm-up/models`)
@UseGuards(WorkerTokenGuard)
export class WarmUpModelsController {
  constructor(
    private readonly database: Database,
    private readonly starts: WorkerStartStore,
    private readonly library: ModelLibrarySource,
    private readonly metrics: Metrics,
  ) {}

  /** What names of the graph mean for the account of the deployment. */
  @Post()
  @HttpCode(200)
  async find(
    @Holder() holder: WorkerTokenHolder,
    @Json(GatewayModelNamesSchema) { names }: { names: string[] },
  ): Promise<{ files: ModelFile[] }> {
    const { accountId, named } = await this.warmUpOf(holder);
    return { files: await this.library.find(accountId, among(names, named)) };
  }

  /** Where the bytes of a model are. */
  @Get(':digest')
  async locate(@Holder() holder: WorkerTokenHolder, @Param('digest') digest: string): Promise<{ url: string | null }> {
    return { url: await this.library.locate(await this.named(holder, digest)) };
  }

  /** A part of the bytes, where the store has no links. */
  @Get(':digest/content')
  async content(
    @Holder() holder: WorkerTokenHolder,
    @Param('digest') digest: string,
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @Gone() gone: AbortSignal,
  ): Promise<void> {
    const range = rangeOf(request);
    const bytes = await this.library.open(await this.named(holder, digest), range, gone);
    await sendPart(response, bytes, this.metrics);
  }

  /** @throws Refusal `forbidden` where the pool has no warm-up (any more). */
  private async warmUpOf({ poolId }: WorkerTokenHolder): Promise<{ accountId: string; named: ReadonlySet<string> }> {
    const warmUp = await this.starts.warmUp(this.database, poolId);
    if (warmUp === null) throw new Refusal('forbidden', 'The deployment of this pool has no warm-up any more.');
    return { accountId: warmUp.accountId, named: namesIn(warmUp.workflow) };
  }

  /** @throws Refusal `not_found` for what the graph does not name. */
  private async named(holder: WorkerTokenHolder, text: string): Promise<{ accountId: string; digest: string }> {
    const { accountId, named } = await this.warmUpOf(holder);
    const digest = digestOf(text);
    const files = await this.library.find(accountId, [...named]);
    if (files.some((file) => file.digest === digest)) return { accountId, digest };
    throw new Refusal('not_found', `The warm-up names no model with the content ${digest}.`);
  }
}
