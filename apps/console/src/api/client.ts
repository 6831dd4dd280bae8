import { ANSWER_LOST, ApiError, readError } from './api-error';

interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, as JSON: a graph whose digits must stay. */
  rawBody?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Whichever account the browser is signed in to by now: to find that out. */
  ofAnyAccount?: true;
  /** It changes nothing, although its method could: the question is the body. */
  onlyReads?: true;
}

const UNKNOWN = 'It is not known whether this was done; look before you repeat it.';

let shownAccount: string | null = null;

/** Have every request say that it is meant for this account; null: nobody is signed in. */
export function actFor(accountId: string | null): void {
  shownAccount = accountId;
}

/** The cookie is the browser's, and another tab can change whose it is: the service refuses what is meant for another account. */
export function accountHeader(): Record<string, string> {
  return shownAccount === null ? {} : { 'Millrace-Account': shownAccount };
}

/**
 * Send a request with the session's cookie, for the account that the page shows. Unsafe requests carry the header that a page of another origin cannot set.
 *
 * @throws ApiError for every answer that is no success, and when none arrives. Of an act, `answer_lost` where it may have been done: the
 *   answer did not arrive, or is a 5xx, which a proxy also sends when it stops waiting, and the service when a commit was not confirmed.
 */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, rawBody, headers = {}, signal, ofAnyAccount = false } = options;
  const isSafe = method === 'GET' || method === 'HEAD';
  const content = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  const init: RequestInit = {
    method,
    headers: {
      ...(isSafe ? {} : { 'Millrace-Console': '1' }),
      ...(ofAnyAccount ? {} : accountHeader()),
      ...(content === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
    ...(signal === undefined ? {} : { signal }),
  };
  const response = await fetch(path, init).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    const broken = `The connection broke before an answer arrived. ${UNKNOWN}`;
    throw isAct(options) ? new ApiError(0, ANSWER_LOST, broken) : unreachable();
  });
  if (response.ok) return response;
  const error = await readError(response);
  if (response.status < 500 || !isAct(options)) throw error;
  const { status, retryAfterS, requestId } = error;
  throw new ApiError(status, ANSWER_LOST, `The server answered ${status}. ${UNKNOWN}`, null, retryAfterS, requestId);
}

/**
 * Read the JSON of a successful answer.
 *
 * @param options of its request.
 * @throws ApiError where it breaks off or is something else: `answer_lost` of an act, as in `send`.
 */
export async function jsonOf<T>(response: Response, options: RequestOptions = {}): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    if (!isAct(options)) throw unreachable();
    const requestId = response.headers.get('x-request-id');
    const broken = `The server's answer cannot be read. ${UNKNOWN}`;
    throw new ApiError(response.status, ANSWER_LOST, broken, null, null, requestId);
  }
}

function isAct({ method = 'GET', onlyReads }: RequestOptions): boolean {
  return method !== 'GET' && method !== 'HEAD' && onlyReads !== true;
}

function unreachable(): ApiError {
  return new ApiError(0, 'unreachable', 'The service cannot be reached.');
}

/** Send a request and read its JSON. @throws ApiError */
export async function sendForJson<T>(path: string, options?: RequestOptions): Promise<T> {
  return jsonOf<T>(await send(path, options), options);
}

/** A query string of the parameters that have a value. */
export function queryOf(parameters: Record<string, string | number | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return query === '' ? '' : `?${query}`;
}

/** Where the API of a deployment is mounted; the account's own surface has no prefix. */
export function surfaceOf(deployment: string | undefined): string {
  return deployment === undefined ? '' : `/deployment/${encodeURIComponent(deployment)}`;
}

/**
 * Delete what has this address. What is not there any more was deleted by somebody else, or by a press before: that is done, too.
 *
 * @throws ApiError for every answer but success and 404.
 */
export async function deleteRecord(path: string): Promise<void> {
  try {
    await send(path, { method: 'DELETE' });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}
