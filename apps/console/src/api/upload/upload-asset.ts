import type { Asset, ResumableUploadView } from '@millrace/contracts';
import { ApiError } from '../api-error';
import { accountHeader, send, sendForJson, surfaceOf } from '../client';
import { hashFile } from './file-hash';
import { sendBytes } from './send-bytes';
import { forgetUpload, keepUpload, unfinishedUpload } from './unfinished-uploads';
import { BucketRefused, orNull, uploadInParts, type PartsTarget } from './upload-parts';
import type { UploadProgress } from './upload-progress';

/** Smaller files are sent as fast as the service is asked whether it has them. */
const HASHED_FROM_BYTES = 1_000_000;
/** Smaller files are sent again as fast as the rest of them. */
const IN_PARTS_FROM_BYTES = 10_000_000;

export interface UploadedAsset {
  asset: Asset;
  /** The account had these bytes before. */
  known: boolean;
}

/**
 * Upload a file, unless the account has its bytes: then an asset is made of those, and nothing is sent. A large file is sent in parts,
 * so that it goes on where it broke off.
 *
 * @throws ApiError
 */
export async function uploadAsset(
  deployment: string | undefined,
  file: File,
  onProgress: (progress: UploadProgress) => void,
): Promise<UploadedAsset> {
  const api = `${surfaceOf(deployment)}/api/v2`;
  if (file.size < HASHED_FROM_BYTES) return sendFile(`${api}/assets`, file, null, onProgress);
  const hash = await hashFile(file, (share) => onProgress({ step: 'hashing', share }));
  const asset = await assetOfHash(`${api}/assets`, hash, file.name);
  if (asset !== null) return { asset, known: true };
  if (file.size < IN_PARTS_FROM_BYTES) return sendFile(`${api}/assets`, file, hash, onProgress);
  try {
    return outcomeOf(await uploadInParts(assetOf(`${api}/uploads`, file, hash), file, onProgress));
  } catch (error) {
    if (!(error instanceof BucketRefused)) throw error;
    await dropUpload(`${api}/uploads`, file, hash);
    return sendFile(`${api}/assets`, file, hash, onProgress);
  }
}

/** @returns null where the account has no bytes of this hash. */
async function assetOfHash(path: string, hash: string, name: string): Promise<Asset | null> {
  try {
    return await sendForJson<Asset>(`${path}/from-hash`, { method: 'POST', body: { hash, file_path: name } });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'blob_not_found') return null;
    throw error;
  }
}

/** As one form through the API. */
async function sendFile(
  path: string,
  file: File,
  hash: string | null,
  onProgress: (progress: UploadProgress) => void,
): Promise<UploadedAsset> {
  const form = new FormData();
  form.append('content_type', typeOf(file));
  form.append('file_path', file.name);
  if (hash !== null) form.append('expected_hash', hash);
  form.append('file', file);
  const asset = await sendBytes<Asset>({
    method: 'POST',
    url: path,
    body: form,
    headers: { 'Millrace-Console': '1', ...accountHeader() },
    onSent: (sentBytes, totalBytes) => onProgress({ step: 'sending', share: sentBytes / Math.max(1, totalBytes) }),
  });
  return outcomeOf(asset);
}

const outcomeOf = (asset: Asset): UploadedAsset => ({ asset, known: asset.created_new === false });

/** An asset of a file in parts. @param path of the API's uploads. */
function assetOf(path: string, file: File, hash: string): PartsTarget<Asset> {
  const key = keyOf(file, hash);
  return {
    open: async () => {
      const id = unfinishedUpload(key, localStorage);
      const known =
        id === null ? null : await orNull(sendForJson<ResumableUploadView>(`${path}/${encodeURIComponent(id)}`));
      if (known !== null) return known;
      const body = { size_bytes: file.size, content_type: typeOf(file), file_path: file.name, expected_hash: hash };
      const begun = await sendForJson<ResumableUploadView>(path, { method: 'POST', body });
      keepUpload(key, begun.id, localStorage);
      return begun;
    },
    read: ({ urls }) => orNull(sendForJson<ResumableUploadView>(urls.self)),
    complete: async ({ urls }) => {
      const asset = await sendForJson<Asset>(urls.complete, { method: 'POST' });
      forgetUpload(key, localStorage);
      return asset;
    },
  };
}

/** Drop an upload that goes on in another way. */
async function dropUpload(path: string, file: File, hash: string): Promise<void> {
  const key = keyOf(file, hash);
  const id = unfinishedUpload(key, localStorage);
  if (id === null) return;
  forgetUpload(key, localStorage);
  await send(`${path}/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

/** An upload is of these bytes under this name. */
const keyOf = ({ name }: File, hash: string): string => `${hash} ${name}`;

const typeOf = (file: File): string => (file.type === '' ? 'application/octet-stream' : file.type);
