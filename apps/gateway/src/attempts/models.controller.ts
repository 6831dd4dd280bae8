import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { GATEWAY_PATH, GatewayModelNamesSchema, type ModelFile } from '@millrace/contracts';
import type { WorkerTokenHolder } from '@millrace/deployments';
import { RemoteAttempts } from '@millrace/jobs';
import { ModelLibrarySource } from '@millrace/models';
import { Metrics } from '@millrace/platform';
import { BodyOf, Gone, Holder, Json, WorkerTokenGuard, type RequestBody } from '../http';
import { GraphNames } from './graph-names';
import { Fenced, HeldAttempts, type NamedFence } from './held-attempts';
import { among, digestOf, rangeOf, sendPart } from './model-request';

/**
 * The models of the library that a worker needs for its attempt: those that the account of the attempt may use, found by names of its
 * graph, and read by their digest. Bytes come from the store where it has links.
 */
@Controller(`${GATEWAY_PATH}/jobs/:job/attempts/:attempt/models`)
@UseGuards(WorkerTokenGuard)
export class ModelsController {
  constructor(
    private readonly held: HeldAttempts,
    private readonly attempts: RemoteAttempts,
    private readonly library: ModelLibrarySource,
    private readonly metrics: Metrics,
    private readonly graphs: GraphNames,
  ) {}

  /** What the names of the job's graph mean for its account; of other names, nothing is said. */
  @Post()
  @HttpCode(200)
  async find(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Json(GatewayModelNamesSchema) { names }: { names: string[] },
    @BodyOf() body: RequestBody,
  ): Promise<{ files: ModelFile[] }> {
    const { accountId, jobId } = await this.held.get(fence, holder);
    const graph = await this.graphs.of(body, `job ${jobId}`, async () => {
      const workflow = await this.attempts.workflowOf(jobId);
      return workflow === null ? null : { accountId, workflow };
    });
    return { files: await this.library.find(accountId, among(names, graph.names)) };
  }

  /** Where the bytes of a model are. */
  @Get(':digest')
  async locate(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Param('digest') digest: string,
  ): Promise<{ url: string | null }> {
    const { accountId } = await this.held.getRecent(fence, holder);
    return { url: await this.library.locate({ accountId, digest: digestOf(digest) }) };
  }

  /** A part of the bytes, where the store has no links, or they do not work from where the worker is. */
  @Get(':digest/content')
  async content(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Param('digest') digest: string,
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @Gone() gone: AbortSignal,
  ): Promise<void> {
    const { accountId } = await this.held.getRecent(fence, holder);
    const range = rangeOf(request);
    const bytes = await this.library.open({ accountId, digest: digestOf(digest) }, range, gone);
    await sendPart(response, bytes, this.metrics);
  }
}
