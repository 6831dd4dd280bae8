import { send } from '../../../src/api/client';

interface AdminRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * Send a request to the admin API with the session's cookie. Every one carries the header that a page of another origin cannot set.
 *
 * @param path under `/admin/v1`.
 * @throws ApiError for every answer that is no success, and when none arrives.
 */
export async function sendAdmin(path: string, { headers, ...request }: AdminRequest = {}): Promise<Response> {
  return send(`/admin/v1${path}`, { ...request, headers: { 'Millrace-Console': '1', ...headers } });
}

/** Send a request to the admin API and read its JSON. @throws ApiError */
export async function admin<T>(path: string, request?: AdminRequest): Promise<T> {
  return (await (await sendAdmin(path, request)).json()) as T;
}
