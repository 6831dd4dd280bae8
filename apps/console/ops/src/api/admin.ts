import { ApiError } from '../../../src/api/api-error';
import { jsonOf, send } from '../../../src/api/client';
import { reason } from './reason';

const REASON = 'Millrace-Reason';

interface AdminRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * Send a request to the admin API, with the reason that the operator gave, and with the session's cookie. Every one carries the header that a page of another origin cannot set.
 *
 * @param path under `/admin/v1`.
 * @throws ApiError for every answer that is no success, and when none arrives.
 */
export async function sendAdmin(path: string, { headers, ...request }: AdminRequest = {}): Promise<Response> {
  const why: Record<string, string> = reason() === '' ? {} : { [REASON]: encodeURIComponent(reason()) };
  const all = { 'Millrace-Console': '1', ...why, ...headers };
  return send(`/admin/v1${path}`, { ...request, headers: all }).catch((error: unknown) => {
    throw isAboutReason(error) ? inWordsOfConsole(error) : error;
  });
}

/** Send a request to the admin API and read its JSON. @throws ApiError */
export async function admin<T>(path: string, request?: AdminRequest): Promise<T> {
  return jsonOf<T>(await sendAdmin(path, request), request);
}

function isAboutReason(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'invalid_request' && error.message.includes(REASON);
}

/** The API names a header; the console has a field for it. */
function inWordsOfConsole({ status, code, details, requestId }: ApiError): ApiError {
  const message = 'Say first why you do this, for the audit log: fill in “Why you act” in the navigation.';
  return new ApiError(status, code, message, details, null, requestId);
}
