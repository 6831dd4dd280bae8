import { Controller, Inject } from '@nestjs/common';
import type { Request } from 'express';
import {
  AssetService,
  UploadService,
  readAssetFields,
  readHash,
  readUploadFields,
  type ReservedBytes,
} from '@millrace/assets';
import { Refusal, parseBlobHash } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, type AnswerOf, type InputOf, type Visitor } from '../endpoints';
import { AssetPresenter } from './asset.presenter';
import { assetFromHash, deleteAsset, getAsset, headAssetByHash, postAssets } from './assets.endpoints';
import { keptFor } from './kept-for';
import { readUploadForm, type UploadForm } from './upload-form';

/** Assets over HTTP (wire supplement, section 1). */
@Controller()
export class AssetsController {
  constructor(
    private readonly assets: AssetService,
    private readonly uploads: UploadService,
    private readonly presenter: AssetPresenter,
    @Inject(API_SETTINGS)
    private readonly settings: Pick<ApiSettings, 'idempotencySeconds' | 'maxUploadBytes' | 'assetRetentionSeconds'>,
  ) {}

  @Serves(postAssets)
  async upload(input: InputOf<typeof postAssets>): Promise<AnswerOf<typeof postAssets>> {
    const { visitor, idempotencyKey, request, response } = input;
    const { accountId, limits, sharedUploads } = visitor.caller;
    const { uploadBytesPerDay, storageBytes } = limits;
    const declaredBytes = declaredBytesOf(request);
    await this.uploads.admit(accountId, { declaredBytes, idempotencyKey });
    const form = await readUploadForm<ReservedBytes>(
      request,
      this.settings.maxUploadBytes,
      (file) => this.uploads.stage(accountId, file, { uploadBytesPerDay, storageBytes, sharedUploads, declaredBytes }),
      (staged) => staged.discard(),
    );
    const { asset, createdNew } = await this.commit(visitor, form, idempotencyKey);
    response.status(createdNew ? 201 : 200);
    return this.presenter.present(visitor.surface, asset, createdNew);
  }

  private async commit(
    { caller }: Visitor,
    { file, fields: raw }: UploadForm<ReservedBytes>,
    key: string | undefined,
  ): ReturnType<UploadService['commit']> {
    if (file === null) throw Refusal.ofFields([{ field: 'file', reason: 'is required: the bytes of the asset' }]);
    let fields: ReturnType<typeof readUploadFields>;
    try {
      fields = readUploadFields(raw);
    } catch (error) {
      await file.discard();
      throw error;
    }
    return this.uploads.commit(caller.accountId, file, keptFor(caller, fields, this.settings), {
      idempotency: key === undefined ? undefined : { key, lifetimeSeconds: this.settings.idempotencySeconds },
      uploadBytesPerDay: caller.limits.uploadBytesPerDay,
      sharedUploads: caller.sharedUploads,
    });
  }

  @Serves(assetFromHash)
  async fromHash(input: InputOf<typeof assetFromHash>): Promise<AnswerOf<typeof assetFromHash>> {
    const { visitor, body, response } = input;
    const hash = readHash(body.hash);
    const { caller } = visitor;
    const fields = keptFor(caller, readAssetFields(body), this.settings);
    const { asset, createdNew } = await this.uploads.fromHash(caller.accountId, hash, fields);
    response.status(createdNew ? 201 : 200);
    return this.presenter.present(visitor.surface, asset, createdNew);
  }

  @Serves(headAssetByHash)
  async byHash({ visitor, params, response }: InputOf<typeof headAssetByHash>): Promise<void> {
    const hash = parseBlobHash(params.hash);
    const known = hash !== null && (await this.uploads.hasBlob(visitor.caller.accountId, hash));
    if (!known) response.status(404);
  }

  @Serves(getAsset)
  async get({ visitor, params }: InputOf<typeof getAsset>): Promise<AnswerOf<typeof getAsset>> {
    return this.presenter.present(visitor.surface, await this.assets.get(visitor.caller.accountId, params.id));
  }

  @Serves(deleteAsset)
  async remove({ visitor, params }: InputOf<typeof deleteAsset>): Promise<void> {
    await this.assets.remove(visitor.caller.accountId, params.id);
  }
}

function declaredBytesOf({ headers }: Request): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}
