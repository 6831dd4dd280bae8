import { Controller, Inject } from '@nestjs/common';
import { ResumableUploadService, readUploadFields, type ResumableUpload } from '@millrace/assets';
import type { FieldError } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { AssetPresenter, keptFor } from '../assets';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { JSON_OBJECT, readJson, type Surface } from '../http';
import { UploadPresenter } from './upload.presenter';
import { abortUpload, beginUpload, completeUpload, getUpload } from './uploads.endpoints';

/** Large files in parts, over HTTP. Additive to the contract: `POST /assets` is as it is there. */
@Controller()
export class UploadsController {
  constructor(
    private readonly uploads: ResumableUploadService,
    private readonly presenter: UploadPresenter,
    private readonly assets: AssetPresenter,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'assetRetentionSeconds'>,
  ) {}

  @Serves(beginUpload)
  async begin({ visitor, request }: InputOf<typeof beginUpload>): Promise<AnswerOf<typeof beginUpload>> {
    const { body } = await readJson(request, JSON_OBJECT);
    const { accountId, limits, sharedUploads } = visitor.caller;
    const faults: FieldError[] = [];
    const sizeBytes = sizeOf(body.size_bytes, faults);
    const fields = keptFor(visitor.caller, readUploadFields(body, faults), this.settings);
    const upload = await this.uploads.begin(accountId, sizeBytes, fields, { ...limits, sharedUploads });
    return this.present(visitor.surface, upload);
  }

  @Serves(getUpload)
  async get({ visitor, params }: InputOf<typeof getUpload>): Promise<AnswerOf<typeof getUpload>> {
    return this.present(visitor.surface, await this.uploads.get(visitor.scope, params.id));
  }

  @Serves(completeUpload)
  async complete(input: InputOf<typeof completeUpload>): Promise<AnswerOf<typeof completeUpload>> {
    const { visitor, params, response } = input;
    const { limits, sharedUploads } = visitor.caller;
    const { uploadBytesPerDay } = limits;
    const terms = { uploadBytesPerDay, sharedUploads };
    const { asset, createdNew } = await this.uploads.complete(visitor.scope, params.id, terms);
    response.status(createdNew ? 201 : 200);
    return this.assets.present(visitor.surface, asset, createdNew);
  }

  @Serves(abortUpload)
  async abort({ visitor, params }: InputOf<typeof abortUpload>): Promise<void> {
    await this.uploads.abort(visitor.scope, params.id);
  }

  private async present(surface: Surface, upload: ResumableUpload): Promise<AnswerOf<typeof getUpload>> {
    return this.presenter.present(surface, upload, await this.uploads.partsOf(upload));
  }
}

/** 0 where it is among the faults. */
function sizeOf(sent: unknown, faults: FieldError[]): number {
  if (typeof sent === 'number' && Number.isSafeInteger(sent) && sent >= 1) return sent;
  const what = sent === undefined ? 'is required: the' : 'must be the';
  faults.push({ field: 'size_bytes', reason: `${what} size of the whole file in bytes, a whole number of at least 1` });
  return 0;
}
