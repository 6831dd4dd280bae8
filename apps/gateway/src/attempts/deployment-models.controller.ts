import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { GATEWAY_PATH, GatewayModelNamesSchema, Refusal, type ModelFile, type ModelName } from '@millrace/contracts';
import { Database } from '@millrace/database';
import { WorkerStartStore, type WorkerTokenHolder } from '@millrace/deployments';
import { ModelLibrarySource } from '@millrace/models';
import { Metrics } from '@millrace/platform';
import { Gone, Holder, Json, WorkerTokenGuard } from '../http';
import { digestOf, namesIn, rangeOf, sendPart } from './model-request';

/** What a pool's deployment names of the library of its account. */
interface Named {
  accountId: string;
  /** In the graph of its warm-up: in any folder. */
  inGraph: ReadonlySet<string>;
  listed: readonly ModelName[];
}

/**
 * The models of the library that a pool's deployment names, in its list or in its warm-up, for a worker of the pool: it holds no attempt
 * yet. It finds and reads those that are named now, and no other of the account.
 */
@Controller(GATEWAY_PATH)
@UseGuards(WorkerTokenGuard)
export class DeploymentModelsController {
  constructor(
    private readonly database: Database,
    private readonly starts: WorkerStartStore,
    private readonly library: ModelLibrarySource,
    private readonly metrics: Metrics,
  ) {}

  /** Those that its workers are to have before they are ready, in the order in which they are to come. */
  @Get('deployment/models')
  async list(@Holder() { poolId }: WorkerTokenHolder): Promise<{ models: ModelName[] }> {
    return { models: (await this.starts.models(this.database, poolId))?.models ?? [] };
  }

  /** What names of its list and its graph mean for its account. */
  @Post('warm-up/models')
  @HttpCode(200)
  async find(
    @Holder() holder: WorkerTokenHolder,
    @Json(GatewayModelNamesSchema) { names }: { names: string[] },
  ): Promise<{ files: ModelFile[] }> {
    return { files: await this.filesOf(await this.namedBy(holder), names) };
  }

  /** Where the bytes of a model are. */
  @Get('warm-up/models/:digest')
  async locate(@Holder() holder: WorkerTokenHolder, @Param('digest') digest: string): Promise<{ url: string | null }> {
    return { url: await this.library.locate(await this.content(holder, digest)) };
  }

  /** A part of the bytes, where the store has no links. */
  @Get('warm-up/models/:digest/content')
  async read(
    @Holder() holder: WorkerTokenHolder,
    @Param('digest') digest: string,
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @Gone() gone: AbortSignal,
  ): Promise<void> {
    const range = rangeOf(request);
    const bytes = await this.library.open(await this.content(holder, digest), range, gone);
    await sendPart(response, bytes, this.metrics);
  }

  /** @throws Refusal `forbidden` where the deployment of the pool names none (any more). */
  private async namedBy({ poolId }: WorkerTokenHolder): Promise<Named> {
    const [warmUp, list] = await Promise.all([
      this.starts.warmUp(this.database, poolId),
      this.starts.models(this.database, poolId),
    ]);
    const accountId = warmUp?.accountId ?? list?.accountId;
    if (accountId === undefined)
      throw new Refusal('forbidden', 'The deployment of this pool names no models any more.');
    return { accountId, inGraph: warmUp === null ? new Set() : namesIn(warmUp.workflow), listed: list?.models ?? [] };
  }

  /** The models that these of its names mean. */
  private async filesOf({ accountId, inGraph, listed }: Named, names: readonly string[]): Promise<ModelFile[]> {
    const isListed = (file: ModelName): boolean =>
      listed.some(({ folder, name }) => folder === file.folder && name === file.name);
    const known = names.filter((name) => inGraph.has(name) || listed.some((one) => one.name === name));
    const files = await this.library.find(accountId, known);
    return files.filter((file) => inGraph.has(file.name) || isListed(file));
  }

  /** @throws Refusal `not_found` for what the deployment does not name. */
  private async content(holder: WorkerTokenHolder, text: string): Promise<{ accountId: string; digest: string }> {
    const named = await this.namedBy(holder);
    const digest = digestOf(text);
    const files = await this.filesOf(named, [...named.inGraph, ...named.listed.map(({ name }) => name)]);
    if (files.some((file) => file.digest === digest)) return { accountId: named.accountId, digest };
    throw new Refusal('not_found', `The deployment names no model with the content ${digest}.`);
  }
}
