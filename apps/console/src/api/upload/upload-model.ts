import type { ModelName, ResumableUploadView } from '@millrace/contracts';
import { ApiError } from '../api-error';
import { sendForJson } from '../client';
import { MODELS, type LibraryModel } from '../models';
import { forgetUpload, keepUpload, unfinishedUpload } from './unfinished-uploads';
import { BucketRefused, orNull, uploadInParts, type PartsTarget } from './upload-parts';
import type { UploadProgress } from './upload-progress';

/** What is said of a file of weights. */
export interface ModelFields extends ModelName {
  /** Null: nothing is said. */
  licence: string | null;
}

type OpenModel = LibraryModel & { upload?: ResumableUploadView };

/**
 * Upload a file of weights. It is not hashed here: for gigabytes that takes minutes. What broke off goes on when the same file is chosen
 * for the same name again.
 *
 * @throws ApiError
 */
export async function uploadModel(
  fields: ModelFields,
  file: File,
  onProgress: (progress: UploadProgress) => void,
): Promise<LibraryModel> {
  try {
    return await uploadInParts(modelOf(fields, file), file, onProgress);
  } catch (error) {
    if (!(error instanceof BucketRefused)) throw error;
    throw new ApiError(
      0,
      'unreachable',
      'The storage takes no uploads from this page: its CORS rule does not name it. Upload with: millrace models upload',
    );
  }
}

function modelOf(fields: ModelFields, file: File): PartsTarget<LibraryModel> {
  const { folder, name } = fields;
  const key = `${folder}/${name} ${file.name} ${file.size} ${file.lastModified}`;
  return {
    open: async () => {
      const id = unfinishedUpload(key, localStorage);
      const known = id === null ? null : await orNull(readUpload(`${MODELS}/${encodeURIComponent(id)}`));
      if (known !== null) return known;
      const body = { ...fields, size_bytes: file.size };
      const { id: begun, upload } = await sendForJson<OpenModel>(MODELS, { method: 'POST', body });
      if (upload === undefined) throw new ApiError(0, 'no_envelope', 'The service did not say where to send the file.');
      keepUpload(key, begun, localStorage);
      return upload;
    },
    read: ({ urls }) => orNull(readUpload(urls.self)),
    complete: async ({ urls }) => {
      const model = await sendForJson<LibraryModel>(urls.complete, { method: 'POST' });
      forgetUpload(key, localStorage);
      return model;
    },
  };
}

/** Null where its upload is over. */
async function readUpload(path: string): Promise<ResumableUploadView | null> {
  return (await sendForJson<OpenModel>(path)).upload ?? null;
}
