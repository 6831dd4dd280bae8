import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Controller, Get, HttpCode, Param, Post, Put, Req, Res, UseGuards } from '@nestjs/common';
import { ContentService, OutputUploads } from '@millrace/assets';
import {
  GATEWAY_HEADERS,
  GATEWAY_PATH,
  GatewayOutputSchema,
  GatewayPartSchema,
  GatewayUploadEndSchema,
  Refusal,
  type GatewayOutput,
} from '@millrace/contracts';
import { type WorkerTokenHolder } from '@millrace/deployments';
import { OutputRecorder, RemoteAttempts, type RemoteAttempt } from '@millrace/jobs';
import { Metrics, Turns } from '@millrace/platform';
import { BodyOf, Holder, IdPipe, Json, WorkerTokenGuard, type RequestBody } from '../http';
import { Fenced, HeldAttempts, type NamedFence } from './held-attempts';
import { restOf } from './model-request';
import { OutputReceipts } from './output-receipts';

interface InputView {
  filePath: string | null;
  contentType: string;
  sizeBytes: number;
  hash: string;
  url: string | null;
}

/** The inputs that a worker may read for its attempt, and the outputs that it stores. Bytes go between worker and store where they can. */
@Controller(`${GATEWAY_PATH}/jobs/:job/attempts/:attempt`)
@UseGuards(WorkerTokenGuard)
export class BytesController {
  /** All of an input is read for one. */
  private readonly doubts = new Turns(1, 'doubts of inputs');

  constructor(
    private readonly held: HeldAttempts,
    private readonly attempts: RemoteAttempts,
    private readonly content: ContentService,
    private readonly uploads: OutputUploads,
    private readonly receipts: OutputReceipts,
    private readonly outputs: OutputRecorder,
    private readonly metrics: Metrics,
  ) {}

  /** An input of the job, and where its bytes are. */
  @Get('inputs/:asset')
  async input(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Param('asset', IdPipe) id: string,
  ): Promise<InputView> {
    const { accountId } = await this.readerOf(fence, holder, id);
    const { asset, url } = await this.content.locateInput(accountId, id);
    const { hash, sizeBytes } = asset.blob;
    return { filePath: asset.filePath, contentType: asset.contentType, sizeBytes, hash, url };
  }

  /** The bytes of an input, or the rest of them from a position on, where the store has no links, or they do not work from where the worker is. */
  @Get('inputs/:asset/content')
  async inputContent(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Param('asset', IdPipe) id: string,
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const { accountId } = await this.readerOf(fence, holder, id);
    const from = restOf(request);
    const { asset, body } = await this.content.openInput(accountId, id, from);
    const bytes = Math.max(0, asset.blob.sizeBytes - from);
    response.writeHead(from > 0 ? 206 : 200, { 'Content-Type': 'application/octet-stream', 'Content-Length': bytes });
    this.metrics.remoteBytes.inc({ direction: 'out' }, bytes);
    await pipeline(body, response);
  }

  /** A worker got bytes of an input with another hash: they are read where they lie. What it says does not count. */
  @Post('inputs/:asset/doubts')
  @HttpCode(200)
  async doubt(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Param('asset', IdPipe) id: string,
  ): Promise<{ damaged: boolean }> {
    const { accountId } = await this.readerOf(fence, holder, id);
    return { damaged: await this.doubts.run(accountId, () => this.content.doubtInput(accountId, id)) };
  }

  /** Begin an upload, or go on with one: the answer says where the part is to be put. */
  @Post('uploads')
  @HttpCode(200)
  async part(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Json(GatewayPartSchema)
    { upload, number, sizeBytes }: { upload: string | null; number: number; sizeBytes: number },
  ): Promise<{ upload: string; url: string | null }> {
    await this.held.get(fence, holder);
    const handle = upload === null ? await this.uploads.begin() : this.receipts.handleOf(fence, upload);
    const url = await this.uploads.link(handle, { number, sizeBytes });
    return { upload: upload ?? this.receipts.ofUpload(fence, handle), url };
  }

  /** The bytes of one part, where the store has no links, or they do not work from where the worker is. */
  @Put('uploads/parts/:number')
  async write(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Param('number') number: string,
    @Req() request: IncomingMessage,
    @BodyOf() body: RequestBody,
  ): Promise<object> {
    const handle = this.receipts.handleOf(fence, String(request.headers[GATEWAY_HEADERS.upload] ?? ''));
    const part = { number: Number(number), sizeBytes: Number(request.headers['content-length'] ?? Number.NaN) };
    if (!/^[1-9]\d{0,4}$/.test(number) || !Number.isSafeInteger(part.sizeBytes)) {
      throw new Refusal('invalid_request', 'A part has a number from 1 on, and a Content-Length.', { status: 400 });
    }
    await this.held.get(fence, holder);
    await body.during(() => {
      if (this.uploads.holdsParts) body.take(part.sizeBytes);
      return this.uploads.write(handle, part, request);
    });
    this.metrics.remoteBytes.inc({ direction: 'in' }, part.sizeBytes);
    return {};
  }

  /** All parts have arrived: they are joined, hashed and kept. */
  @Post('uploads/ends')
  @HttpCode(200)
  async complete(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Json(GatewayUploadEndSchema)
    { upload, ...end }: { upload: string; parts: number; hash: string; name: string },
  ): Promise<object> {
    const held = await this.held.get(fence, holder);
    const stored = await this.uploads.complete(held.accountId, this.receipts.handleOf(fence, upload), end);
    const { contentType, blob } = stored;
    return { receipt: this.receipts.ofStored(fence, stored), contentType, hash: blob.hash, sizeBytes: blob.sizeBytes };
  }

  /** Make stored bytes an output of the job. */
  @Post('outputs')
  @HttpCode(200)
  async record(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Json(GatewayOutputSchema) output: GatewayOutput,
  ): Promise<{ recorded: boolean }> {
    const held = await this.held.find(fence, holder);
    if (held === null) return { recorded: false };
    return { recorded: await this.outputs.record(held, this.receipts.draftOf(held, output)) };
  }

  /** @throws Refusal `forbidden` where the attempt is not held; `not_found` for an asset that is not an input of its job. */
  private async readerOf(fence: NamedFence, holder: WorkerTokenHolder, assetId: string): Promise<RemoteAttempt> {
    const held = await this.held.get(fence, holder);
    if (await this.attempts.hasInput(held.jobId, assetId)) return held;
    throw new Refusal('not_found', `The job has no input ${assetId}.`);
  }
}
