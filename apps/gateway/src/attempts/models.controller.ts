import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { GATEWAY_PATH, GatewayModelNamesSchema, Refusal, type ModelFile } from '@millrace/contracts';
import type { WorkerTokenHolder } from '@millrace/deployments';
import { RemoteAttempts } from '@millrace/jobs';
import { ModelLibrarySource } from '@millrace/models';
import { Metrics } from '@millrace/platform';
import { modelFilesOfNode, parseWorkflow } from '@millrace/workflow';
import { Gone, Holder, Json, WorkerTokenGuard } from '../http';
import { Fenced, HeldAttempts, type NamedFence } from './held-attempts';

const DIGEST = /^[0-9a-f]{64}$/;
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;

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
  ) {}

  /** What the names of the job's graph mean for its account; of other names, nothing is said. */
  @Post()
  @HttpCode(200)
  async find(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Json(GatewayModelNamesSchema) { names }: { names: string[] },
  ): Promise<{ files: ModelFile[] }> {
    const { accountId, jobId } = await this.held.get(fence, holder);
    const graph = parseWorkflow((await this.attempts.workflowOf(jobId)) ?? '{}');
    const named = new Set([...graph.nodes.values()].flatMap(modelFilesOfNode));
    const files = await this.library.find(
      accountId,
      names.filter((name) => named.has(name)),
    );
    return { files };
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

  /** A part of the bytes, where the store has no links. */
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
    const [, first, last] = RANGE.exec(String(request.headers.range ?? '')) ?? [];
    const [start, end] = [Number(first), Number(last) + 1];
    if (!(start < end)) {
      throw new Refusal('invalid_request', 'Send a Range of the form bytes=FIRST-LAST.', { status: 400 });
    }
    const bytes = await this.library.open({ accountId, digest: digestOf(digest) }, { start, end }, gone);
    response.writeHead(206, { 'Content-Type': 'application/octet-stream' });
    bytes.on('data', (chunk: Buffer) => this.metrics.remoteBytes.inc({ direction: 'out' }, chunk.length));
    await pipeline(bytes, response);
  }
}

/** @throws Refusal `not_found`. */
function digestOf(text: string): string {
  if (DIGEST.test(text)) return text;
  throw new Refusal('not_found', `There is no model ${text.slice(0, 80)}; models are named by their blake3 here.`);
}
