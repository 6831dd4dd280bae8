import { wholeAccount, type PartState, type ResumableUpload, type ResumableUploadService } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import type { ModelSettings } from '../models.settings';
import type { Model, ModelDraft, Transact } from './model';
import type { ModelContents } from './model-content';
import type { ModelLibrary } from './model-library.service';
import { readModelName } from './model-name';

/** What an account may upload and store; null: as much as the service lets everybody. */
export interface UploadAllowance {
  uploadBytesPerDay: number | null;
  storageBytes: number | null;
}

/** Models that clients upload: in parts that can be sent again, as any large asset. */
export class ModelUploads {
  constructor(
    private readonly library: ModelLibrary,
    private readonly uploads: ResumableUploadService,
    private readonly contents: ModelContents,
    private readonly settings: Pick<ModelSettings, 'modelPickles'>,
  ) {}

  /**
   * Begin an upload. Its name is taken from then on; an upload that is not completed in time gives it back.
   *
   * @throws Refusal as `ModelLibrary.add` and `ResumableUploadService.begin`.
   */
  async begin(
    draft: ModelDraft & { sizeBytes: number },
    allowance: UploadAllowance,
    transact: Transact,
  ): Promise<Model> {
    readModelName(draft, this.settings.modelPickles);
    const { accountId, sizeBytes, expectedHash } = draft;
    const recorded: { model?: Model } = {};
    const upload = await this.uploads.begin(
      accountId,
      sizeBytes,
      contentFieldsOf(draft, expectedHash),
      allowance,
      (insert) =>
        transact(async (tx) => {
          const { id: uploadId } = await insert(tx);
          return (recorded.model = await this.library.add(tx, draft, { sizeBytes, uploadId }));
        }),
    );
    if (recorded.model === undefined) throw new Error(`upload ${upload.id} has begun without its model`);
    return recorded.model;
  }

  /** The parts of an upload that is open; null for a model that is not uploaded. @throws Refusal `rate_limited`. */
  async partsOf(model: Model): Promise<{ upload: ResumableUpload; parts: PartState[] } | null> {
    if (model.state !== 'uploading' || model.uploadId === null) return null;
    try {
      const upload = await this.uploads.get(wholeAccount(model.accountId), model.uploadId);
      return { upload, parts: await this.uploads.partsOf(upload) };
    } catch (error) {
      // It has expired: the model is about to go as well.
      if (error instanceof Refusal && error.code === 'not_found') return null;
      throw error;
    }
  }

  /**
   * Join the parts, read the header, and make the model ready. Repeating it has the same end, also after an answer that was lost.
   *
   * @throws Refusal `not_found`, `upload_incomplete`, `hash_mismatch`, `rate_limited`, `model_refused`; BlobStoreError.
   */
  async complete(accountId: string, id: string, allowance: UploadAllowance): Promise<Model> {
    const model = await this.library.getOwn(accountId, id);
    if (model.state === 'uploading') await this.settle(model, allowance);
    return this.library.getOwn(accountId, id);
  }

  /**
   * Make an upload that became an asset the model that it was to be, after its request died. Where the asset is gone, or its bytes are none
   * of a model, the model has failed.
   *
   * @throws as `complete`, but for `not_found` and `model_refused`.
   */
  async resume(model: Model): Promise<void> {
    try {
      await this.settle(model, { uploadBytesPerDay: null });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : null;
      if (code === 'not_found') await this.contents.fail(model, 'The file was deleted before it was looked at.');
      else if (code !== 'model_refused') throw error;
    }
  }

  private async settle(model: Model, terms: Pick<UploadAllowance, 'uploadBytesPerDay'>): Promise<void> {
    if (model.uploadId === null) return;
    try {
      const { asset } = await this.uploads.complete(wholeAccount(model.accountId), model.uploadId, terms);
      await this.contents.settle(model, asset);
    } catch (error) {
      const code = error instanceof Refusal ? error.code : null;
      // The bytes are not those that were announced: the upload is over.
      if (code === 'hash_mismatch') await this.contents.fail(model, (error as Refusal).message);
      if (code === 'model_refused') await this.drop(model);
      throw error;
    }
  }

  /** Drop what has arrived for a model that was deleted or refused, also where it is an asset by now. */
  async drop({ accountId, uploadId, state }: Model): Promise<void> {
    if (uploadId === null || state === 'ready') return;
    // Where this fails, the upload expires.
    await this.uploads.abortWithAsset(wholeAccount(accountId), uploadId).catch(() => undefined);
  }
}

/** The fields of the asset that a model becomes. */
export function contentFieldsOf(
  { folder, name }: Pick<Model, 'folder' | 'name'>,
  expectedHash: string | null,
): Parameters<ResumableUploadService['begin']>[2] {
  return {
    contentType: 'application/octet-stream',
    filePath: `models/${folder}/${name}`,
    tags: [],
    labels: null,
    expiresInSeconds: null,
    expectedHash,
  };
}
