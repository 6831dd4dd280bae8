import type { Asset } from '@millrace/contracts';
import { ApiError } from './api-error';
import { sendForJson, surfaceOf } from './client';
import { hashFile } from './file-hash';

/** Smaller files are sent as fast as the service is asked whether it has them. */
const HASHED_FROM_BYTES = 1_000_000;

/** Where an upload stands: `hashing` finds out whether the service has the bytes already. */
export interface UploadProgress {
  step: 'hashing' | 'sending';
  /** 0 to 1. */
  share: number;
}

export interface UploadedAsset {
  asset: Asset;
  /** The account had these bytes before. */
  known: boolean;
}

/**
 * Upload a file, unless the account has its bytes: then an asset is made of those, and nothing is sent.
 *
 * @throws ApiError
 */
export async function uploadAsset(
  deployment: string | undefined,
  file: File,
  onProgress: (progress: UploadProgress) => void,
): Promise<UploadedAsset> {
  const path = `${surfaceOf(deployment)}/api/v2/assets`;
  if (file.size < HASHED_FROM_BYTES) return sendFile(path, file, null, onProgress);
  const hash = await hashFile(file, (share) => onProgress({ step: 'hashing', share }));
  const asset = await assetOfHash(path, hash, file.name);
  return asset === null ? sendFile(path, file, hash, onProgress) : { asset, known: true };
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

/** XMLHttpRequest, because `fetch` does not say how much was sent. */
function sendFile(
  path: string,
  file: File,
  hash: string | null,
  onProgress: (progress: UploadProgress) => void,
): Promise<UploadedAsset> {
  const form = new FormData();
  form.append('content_type', file.type === '' ? 'application/octet-stream' : file.type);
  form.append('file_path', file.name);
  if (hash !== null) form.append('expected_hash', hash);
  form.append('file', file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('Millrace-Console', '1');
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress({ step: 'sending', share: loaded / Math.max(1, total) }),
    );
    request.addEventListener('error', () =>
      reject(new ApiError(0, 'unreachable', 'The upload broke off. Check the connection and try again.')),
    );
    request.addEventListener('load', () => {
      const asset = request.response as Asset;
      if (request.status >= 200 && request.status < 300) resolve({ asset, known: asset.created_new === false });
      else reject(errorOf(request));
    });
    request.send(form);
  });
}

function errorOf(request: XMLHttpRequest): ApiError {
  const { error } = (request.response ?? {}) as { error?: { code: string; message: string } };
  const message = error?.message ?? `The server answered ${request.status} without saying why.`;
  return new ApiError(request.status, error?.code ?? 'no_envelope', message);
}
