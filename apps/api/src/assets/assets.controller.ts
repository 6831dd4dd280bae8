import { Controller, Inject } from '@nestjs/common';
import type { Request } from 'express';
import { AssetService, UploadService, readMintFields, readUploadFields, type ReservedBytes } from '@millrace/assets';
import { Refusal, parseBlobHash, type FieldError } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, presentPage, type AnswerOf, type InputOf, type Visitor } from '../endpoints';
import { JSON_OBJECT, readJson } from '../http';
import { AssetPresenter } from './asset.presenter';
import { assetFromHash, deleteAsset, getAsset, headAssetByHash, listAssets, postAssets } from './assets.endpoints';
import { keptFor } from './kept-for';
import { readUploadForm, type UploadForm } from './upload-form';

/** The parser passes by a part whose headers it cannot read. Some clients write the name of the file there as it is. */
const NO_FILE =
  'is required: a part of this name with the bytes of the asset; one whose headers have a line break, as in a file name, is not read';

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
    if (file === null) return refuseWithoutFile(raw);
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

  @Serves(listAssets)
  async list({ visitor, query }: InputOf<typeof listAssets>): Promise<AnswerOf<typeof listAssets>> {
    if (visitor.demo) throw noDemoList();
    const filter = {
      limit: query.limit,
      cursor: query.cursor,
      kind: query.kind,
      contentType: query.content_type ?? null,
      createdAfter: query.created_after ?? null,
      createdBefore: query.created_before ?? null,
    };
    const page = await this.assets.list(visitor.scope, filter);
    return presentPage('assets', page, (asset) => this.presenter.present(visitor.surface, asset));
  }

  @Serves(assetFromHash)
  async fromHash(input: InputOf<typeof assetFromHash>): Promise<AnswerOf<typeof assetFromHash>> {
    const { visitor, request, response } = input;
    const { body } = await readJson(request, JSON_OBJECT);
    const { hash, fields: read } = readMintFields(body);
    const { caller, scope } = visitor;
    const fields = keptFor(caller, read, this.settings);
    const { asset, isNew } = await this.uploads.fromHash(scope, hash, fields);
    response.status(isNew ? 201 : 200);
    // The asset may be new; its bytes were there, and official clients read this field as "were these bytes uploaded?".
    return this.presenter.present(visitor.surface, asset, false);
  }

  @Serves(headAssetByHash)
  async byHash({ visitor, params, response }: InputOf<typeof headAssetByHash>): Promise<void> {
    const hash = parseBlobHash(params.hash);
    const known = hash !== null && (await this.uploads.hasBlob(visitor.scope, hash));
    if (!known) response.status(404);
  }

  @Serves(getAsset)
  async get({ visitor, params }: InputOf<typeof getAsset>): Promise<AnswerOf<typeof getAsset>> {
    return this.presenter.present(visitor.surface, await this.assets.get(visitor.scope, params.id));
  }

  @Serves(deleteAsset)
  async remove({ visitor, params }: InputOf<typeof deleteAsset>): Promise<void> {
    await this.assets.remove(visitor.scope, params.id);
  }
}

/** @throws Refusal for all that is wrong with a form without a file. */
function refuseWithoutFile(fields: UploadForm<never>['fields']): never {
  const faults: FieldError[] = [{ field: 'file', reason: NO_FILE }];
  readUploadFields(fields, faults);
  throw Refusal.ofFields(faults);
}

/** Callers of a demo deployment behind one address share an account, and a list would show each the uploads of all. */
function noDemoList(): Refusal {
  return new Refusal(
    'forbidden',
    'A demo deployment does not list assets; keep the id of your asset and read it by its id.',
  );
}

function declaredBytesOf({ headers }: Request): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}
