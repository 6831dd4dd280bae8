import type { NodeErrors } from '@millrace/contracts';

/** The code of an act that was sent, and to which no answer arrived that says what became of it: it may have been done. */
export const ANSWER_LOST = 'answer_lost';

/** The codes that the console itself gives to what the API did not answer. */
export const CONSOLE_CODES = ['no_envelope', 'unreachable', ANSWER_LOST] as const;
export type ConsoleCode = (typeof CONSOLE_CODES)[number];

/** An answer of the API that is no success: its envelope (contract, 7.1), or what stands for it when none arrived. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when no answer arrived. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> | null = null,
    readonly retryAfterS: number | null = null,
    readonly requestId: string | null = null,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** The faults of a graph by node, of an `invalid_workflow`; null for any other error, and for none. */
export function nodeErrorsOf(
  error: { code: string; details?: Record<string, unknown> | null | undefined } | null,
): NodeErrors | null {
  if (error?.code !== 'invalid_workflow') return null;
  const errors = error.details?.['node_errors'];
  return typeof errors === 'object' && errors !== null ? (errors as NodeErrors) : {};
}

/** Any thrown value as an `ApiError`, so that every error is shown in one way. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, 'console_error', error instanceof Error ? error.message : String(error));
}

/** Read the envelope of an answer; a proxy between may have answered with something else. */
export async function readError(response: Response): Promise<ApiError> {
  const retryAfterS = Number(response.headers.get('retry-after')) || null;
  const requestId = response.headers.get('x-request-id');
  try {
    const { error } = (await response.json()) as {
      error: { code: string; message: string; details?: Record<string, unknown> | null };
    };
    return new ApiError(response.status, error.code, error.message, error.details ?? null, retryAfterS, requestId);
  } catch {
    return withoutEnvelope(response.status, retryAfterS, requestId);
  }
}

/** The error of an answer that is not of the API: a proxy in front of it, or the storage of an upload, sent it. */
export function withoutEnvelope(status: number, retryAfterS: number | null, requestId: string | null): ApiError {
  const message =
    status >= 500
      ? `The service does not answer at present: a proxy in front of it, or its storage, answered ${status}.`
      : `A proxy in front of the service, or its storage, refused this with ${status}.`;
  return new ApiError(status, 'no_envelope', message, null, retryAfterS, requestId);
}

/** Whether the service failed as a whole or could not be reached: what its status page is for. */
export function isOutage({ status, code }: ApiError): boolean {
  return status >= 500 || code === 'unreachable';
}

/** What stands over an error: that an act failed is not known where its answer was lost. */
export function titleOf<T>({ code }: ApiError, title: T): T | string {
  return code === ANSWER_LOST ? 'No answer arrived' : title;
}
