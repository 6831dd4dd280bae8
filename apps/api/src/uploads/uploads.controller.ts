import { Readable } from 'node:stream';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  PARTS_PATH,
  PartLinks,
  ResumableUploadService,
  readUploadFields,
  type ResumableUpload,
} from '@millrace/assets';
import { ResumableUploadRequestSchema, type Asset, type ResumableUploadView } from '@millrace/contracts';
import { readJson } from '../http/body';
import { Callers } from '../endpoints/callers';
import { contextOf } from '../http/request-context';
import { arrivingBytes } from '../http/arriving-bytes';
import { AssetPresenter } from '../assets/asset.presenter';
import { UploadPresenter } from './upload.presenter';

/** Large files in parts, over HTTP. Additive to the contract: `POST /assets` is as it is there. */
@Controller('api/v2/uploads')
export class UploadsController {
  constructor(
    @Inject(Callers) private readonly callers: Callers,
    @Inject(ResumableUploadService) private readonly uploads: ResumableUploadService,
    @Inject(UploadPresenter) private readonly presenter: UploadPresenter,
    @Inject(AssetPresenter) private readonly assets: AssetPresenter,
  ) {}

  @Post()
  @HttpCode(201)
  async begin(@Req() request: Request): Promise<ResumableUploadView> {
    const { accountId, limits } = (await this.callers.admit(request, 'assets:write')).caller;
    const { size_bytes: sizeBytes, ...raw } = await readJson(request, ResumableUploadRequestSchema);
    const { uploadBytesPerDay } = limits;
    const upload = await this.uploads.begin(accountId, sizeBytes, readUploadFields(raw), { uploadBytesPerDay });
    return this.present(request, upload);
  }

  @Get(':id')
  async get(@Req() request: Request, @Param('id') id: string): Promise<ResumableUploadView> {
    const { accountId } = (await this.callers.admit(request, 'assets:write')).caller;
    return this.present(request, await this.uploads.get(accountId, id));
  }

  @Post(':id/complete')
  async complete(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @Param('id') id: string,
  ): Promise<Asset> {
    const { accountId, limits } = (await this.callers.admit(request, 'assets:write')).caller;
    const { asset, createdNew } = await this.uploads.complete(accountId, id, limits);
    response.status(createdNew ? 201 : 200);
    return this.assets.present(contextOf(request).surface, asset, createdNew);
  }

  @Delete(':id')
  @HttpCode(204)
  async abort(@Req() request: Request, @Param('id') id: string): Promise<void> {
    const { accountId } = (await this.callers.admit(request, 'assets:write')).caller;
    await this.uploads.abort(accountId, id);
  }

  private async present(request: Request, upload: ResumableUpload): Promise<ResumableUploadView> {
    return this.presenter.present(contextOf(request).surface, upload, await this.uploads.partsOf(upload));
  }
}

/** Takes parts where the store has no links of its own: whoever has the link may send the part. */
@Controller(PARTS_PATH)
export class PartsController {
  constructor(
    @Inject(PartLinks) private readonly links: PartLinks,
    @Inject(ResumableUploadService) private readonly uploads: ResumableUploadService,
  ) {}

  @Put(':id/:number')
  @HttpCode(204)
  async receive(@Req() request: Request, @Param('id') id: string, @Param('number') number: string): Promise<void> {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const accountId = this.links.verify(pathname, searchParams);
    await this.uploads.receive(accountId, id, Number(number), Readable.from(arrivingBytes(request)));
  }
}
