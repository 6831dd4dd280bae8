import type { Asset } from '@millrace/contracts';
import { ApiError } from './api-error';
import { surfaceOf } from './client';

/**
 * Upload a file. XMLHttpRequest, because `fetch` does not say how much was sent.
 *
 * @param onProgress the share that was sent, 0 to 1.
 * @returns the asset; `created_new` is false where the account had these bytes before.
 * @throws ApiError
 */
export function uploadAsset(
  deployment: string | undefined,
  file: File,
  onProgress: (share: number) => void,
): Promise<Asset> {
  const form = new FormData();
  form.append('content_type', file.type === '' ? 'application/octet-stream' : file.type);
  form.append('file_path', file.name);
  form.append('file', file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${surfaceOf(deployment)}/api/v2/assets`);
    request.setRequestHeader('Millrace-Console', '1');
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / Math.max(1, total)));
    request.addEventListener('error', () =>
      reject(new ApiError(0, 'unreachable', 'The upload broke off. Check the connection and try again.')),
    );
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve(request.response as Asset);
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
