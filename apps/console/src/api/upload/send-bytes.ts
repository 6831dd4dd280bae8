import { ApiError, withoutEnvelope } from '../api-error';

interface BytesRequest {
  method: 'POST' | 'PUT';
  url: string;
  body: FormData | Blob;
  headers?: Record<string, string>;
  /** Called with the bytes that have left so far, the form around a file included. */
  onSent: (sentBytes: number, totalBytes: number) => void;
}

/**
 * Send bytes, and read the JSON of the answer, null where it has none. By XMLHttpRequest, because `fetch` does not say how much was sent.
 *
 * @throws ApiError for every answer that is no success; of status 0 when none arrived.
 */
export function sendBytes<T>({ method, url, body, headers = {}, onSent }: BytesRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => onSent(loaded, total));
    request.addEventListener('error', () =>
      reject(new ApiError(0, 'unreachable', 'The upload broke off. Check the connection and try again.')),
    );
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve(request.response as T);
      else reject(errorOf(request));
    });
    request.send(body);
  });
}

function errorOf(request: XMLHttpRequest): ApiError {
  const { error } = (request.response ?? {}) as { error?: { code: string; message: string } };
  return error === undefined
    ? withoutEnvelope(request.status, null, null)
    : new ApiError(request.status, error.code, error.message);
}
