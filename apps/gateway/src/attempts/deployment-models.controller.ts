import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { GATEWAY_PATH, GatewayModelNamesSchema, Refusal, type ModelFile, type ModelName } from '@millrace/contracts';
import { Database } from '@millrace/database';
import { WorkerStartStore, type WorkerTokenHolder } from '@millrace/deployments';
import { ModelLibrarySource } from '@millrace/models';
import { Metrics } from '@millrace/platform';
import { BodyOf, Gone, Holder, Json, WorkerTokenGuard, type RequestBody } from '../http';
import { GraphNames } from './graph-names';
import { digestOf, rangeOf, sendPart } from './model-request';

/** What a warm-up no longer names can be read for so long; what it newly names, at once. In milliseconds. */
const WARM_UP_KEPT_MS = 5_000;

/** What a pool's deployment names of the library of its account. */
interface Named {
  accountId: string;
  /** In the graph of its warm-up: in any folder. */
  inGraph: ReadonlySet<string>;
  listed: readonly ModelName[];
}

/**
 * The models of the library that a pool's deployment names, in its list or in its warm-up, for a worker of the pool: it holds no attempt
 * yet. It finds and reads those that are named now, or were in the warm-up a few seconds ago, and no other of the account.
 */
@Controller(GATEWAY_PATH)
@UseGuards(WorkerTokenGuard)
export class DeploymentModelsController {
  constructor(
    private readonly database: Database,
    private readonly starts: WorkerStartStore,
    private readonly library: ModelLibrarySource,
    private readonly metrics: Metrics,
    private readonly graphs: GraphNames,
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
    @BodyOf() body: RequestBody,
  ): Promise<{ files: ModelFile[] }> {
    const named = await this.namedBy(holder, body);
    if (knownIn(named, names).length === names.length) return { files: await this.filesOf(named, names) };
    return { files: await this.filesOf(await this.namedBy(holder, body, true), names) };
  }

  /** Where the bytes of a model are. */
  @Get('warm-up/models/:digest')
  async locate(
    @Holder() holder: WorkerTokenHolder,
    @Param('digest') digest: string,
    @BodyOf() body: RequestBody,
  ): Promise<{ url: string | null }> {
    return { url: await this.library.locate(await this.content(holder, digest, body)) };
  }

  /** A part of the bytes, where the store has no links, or they do not work from where the worker is. */
  @Get('warm-up/models/:digest/content')
  async read(
    @Holder() holder: WorkerTokenHolder,
    @Param('digest') digest: string,
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @BodyOf() body: RequestBody,
    @Gone() gone: AbortSignal,
  ): Promise<void> {
    const range = rangeOf(request);
    const bytes = await this.library.open(await this.content(holder, digest, body), range, gone);
    await sendPart(response, bytes, this.metrics);
  }

  /** @throws Refusal `forbidden` where the deployment of the pool names none (any more). */
  private async namedBy(holder: WorkerTokenHolder, body: RequestBody, isFresh = false): Promise<Named> {
    const { poolId } = holder;
    const load = (): ReturnType<WorkerStartStore['warmUp']> => this.starts.warmUp(this.database, poolId);
    const [graph, list] = await Promise.all([
      this.graphs.of(body, `pool ${poolId}`, load, { keptMs: WARM_UP_KEPT_MS, isFresh }),
      this.starts.models(this.database, poolId),
    ]);
    const accountId = graph.accountId ?? list?.accountId;
    if (accountId === undefined) {
      if (!isFresh) return this.namedBy(holder, body, true);
      throw new Refusal('forbidden', 'The deployment of this pool names no models any more.');
    }
    return { accountId, inGraph: graph.names, listed: list?.models ?? [] };
  }

  /** The models that these of its names mean. */
  private async filesOf(named: Named, names: readonly string[]): Promise<ModelFile[]> {
    const { accountId, inGraph, listed } = named;
    const isListed = (file: ModelName): boolean =>
      listed.some(({ folder, name }) => folder === file.folder && name === file.name);
    const known = knownIn(named, names);
    const files = await this.library.find(accountId, known);
    return files.filter((file) => inGraph.has(file.name) || isListed(file));
  }

  /** @throws Refusal `not_found` for what the deployment does not name. */
  private async content(
    holder: WorkerTokenHolder,
    text: string,
    body: RequestBody,
  ): Promise<{ accountId: string; digest: string }> {
    const digest = digestOf(text);
    // What is not among those of a moment ago may have been named since.
    for (const isFresh of [false, true]) {
      const named = await this.namedBy(holder, body, isFresh);
      const files = await this.filesOf(named, [...named.inGraph, ...named.listed.map(({ name }) => name)]);
      if (files.some((file) => file.digest === digest)) return { accountId: named.accountId, digest };
    }
    throw new Refusal('not_found', `The deployment names no model with the content ${digest}.`);
  }
}

/** Of these names, those that a deployment names. */
function knownIn({ inGraph, listed }: Named, names: readonly string[]): string[] {
  return names.filter((name) => inGraph.has(name) || listed.some((one) => one.name === name));
}
