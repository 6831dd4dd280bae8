import { Controller, Delete, Get, Head, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '@millrace/accounts';
import {
  AssetService,
  UploadService,
  readAssetFields,
  readHash,
  readUploadFields,
  type StagedBytes,
} from '@millrace/assets';
import { AssetFromHashRequestSchema, Refusal, parseBlobHash, type Asset } from '@millrace/contracts';
import { AssetPresenter } from './asset.presenter';
import { readJson } from '../http/body';
import { Callers } from '../endpoints/callers';
import { ContentSender } from './content-sender';
import { idempotencyKeyOf } from '../endpoints/idempotency-key';
import { contextOf } from '../http/request-context';
import { readUploadForm } from './upload-form';

export const IDEMPOTENCY_SECONDS = Symbol('IDEMPOTENCY_SECONDS');

/** Assets over HTTP (wire supplement, section 1). */
@Controller('api/v2/assets')
export class AssetsController {
  constructor(
    @Inject(Callers) private readonly callers: Callers,
    @Inject(AssetService) private readonly assets: AssetService,
    @Inject(UploadService) private readonly uploads: UploadService,
    @Inject(AssetPresenter) private readonly presenter: AssetPresenter,
    @Inject(ContentSender) private readonly sender: ContentSender,
    @Inject(IDEMPOTENCY_SECONDS) private readonly idempotencySeconds: number,
  ) {}

  @Post()
  async upload(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<Asset> {
    const { caller } = await this.callers.admit(request, 'assets:write');
    const key = idempotencyKeyOf(request);
    const { uploadBytesPerDay } = caller.limits;
    await this.uploads.admit(caller.accountId, { declaredBytes: declaredBytesOf(request), idempotencyKey: key });
    const form = await readUploadForm<StagedBytes>(
      request,
      (file) => this.uploads.stage(caller.accountId, file, { uploadBytesPerDay }),
      (staged) => staged.discard(),
    );
    if (form.file === null) throw Refusal.ofFields([{ field: 'file', reason: 'is required: the bytes of the asset' }]);
    const { asset, createdNew } = await this.commit(caller, form.file, form.fields, key);
    response.status(createdNew ? 201 : 200);
    return this.presenter.present(contextOf(request).surface, asset, createdNew);
  }

  private async commit(
    caller: Caller,
    staged: StagedBytes,
    raw: Parameters<typeof readUploadFields>[0],
    key: string | undefined,
  ): ReturnType<UploadService['commit']> {
    let fields: ReturnType<typeof readUploadFields>;
    try {
      fields = readUploadFields(raw);
    } catch (error) {
      await staged.discard();
      throw error;
    }
    return this.uploads.commit(caller.accountId, staged, fields, {
      idempotency: key === undefined ? undefined : { key, lifetimeSeconds: this.idempotencySeconds },
      uploadBytesPerDay: caller.limits.uploadBytesPerDay,
    });
  }

  @Post('from-hash')
  async fromHash(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<Asset> {
    const { caller } = await this.callers.admit(request, 'assets:write');
    const body = await readJson(request, AssetFromHashRequestSchema);
    const { asset, createdNew } = await this.uploads.fromHash(
      caller.accountId,
      readHash(body.hash),
      readAssetFields(body),
    );
    response.status(createdNew ? 201 : 200);
    return this.presenter.present(contextOf(request).surface, asset, createdNew);
  }

  @Head('by-hash/:hash')
  async byHash(@Req() request: Request, @Res() response: Response, @Param('hash') text: string): Promise<void> {
    const { caller } = await this.callers.admit(request, 'assets:read');
    const hash = parseBlobHash(text);
    const known = hash !== null && (await this.uploads.hasBlob(caller.accountId, hash));
    response.status(known ? 200 : 404).end();
  }

  @Get(':id')
  async get(@Req() request: Request, @Param('id') id: string): Promise<Asset> {
    const { caller } = await this.callers.admit(request, 'assets:read');
    return this.presenter.present(contextOf(request).surface, await this.assets.get(caller.accountId, id));
  }

  @Delete(':id')
  @HttpCode(204)
  async remove(@Req() request: Request, @Param('id') id: string): Promise<void> {
    const { caller } = await this.callers.admit(request, 'assets:write');
    await this.assets.remove(caller.accountId, id);
  }

  /** Self-hosted: the bytes. Elsewhere: a redirect to a link that needs no credential (wire supplement, section 1). */
  @Get(':id/content')
  async content(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const { caller } = await this.callers.admit(request, 'assets:read');
    const { surface } = contextOf(request);
    if (surface.kind === 'self_hosted') await this.sender.sendBytes(request, response, caller.accountId, id);
    else await this.sender.redirect(request, response, surface, caller.accountId, id);
  }
}

function declaredBytesOf({ headers }: Request): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}
