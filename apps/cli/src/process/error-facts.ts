/**
 * What can be read off a thrown value. By shape and not by class: errors of the platform may come from another realm or
 * be no `Error` at all.
 */
interface Thrown {
  name?: unknown;
  message?: unknown;
  code?: unknown;
  cause?: unknown;
  errors?: unknown;
  path?: unknown;
}

function shapeOf(error: unknown): Thrown {
  return typeof error === 'object' && error !== null ? error : {};
}

/** `ENOENT` and the like. */
export function codeOf(error: unknown): string | undefined {
  const { code } = shapeOf(error);
  return typeof code === 'string' ? code : undefined;
}

export function isAbort(error: unknown): boolean {
  return shapeOf(error).name === 'AbortError';
}

/** An error of the file system, on a path or of an open file. */
export function isDiskFault(error: unknown): boolean {
  return typeof shapeOf(error).path === 'string' || DISK_FAULTS.has(codeOf(error));
}

/** Errors of a write to an open file, which carry no path; the last one is of a pipe that nothing reads any more. */
const DISK_FAULTS: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG', 'EPIPE']);

/** An error before a connection was made: the service cannot have seen the request. */
export function wasNotSent(error: unknown): boolean {
  return [...chainOf(error)].some((one) => NOT_SENT.has(codeOf(one)));
}

const NOT_SENT: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  // The server is not who it should be, or speaks no TLS: a request is sent only after that is settled.
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** The error and all that it wraps, outermost first. */
function* chainOf(error: unknown): Generator<unknown> {
  if (error === undefined || error === null) return;
  yield error;
  const { cause, errors } = shapeOf(error);
  if (Array.isArray(errors)) for (const inner of errors) yield* chainOf(inner);
  yield* chainOf(cause);
}

/** The sentence of the innermost error: a failed fetch wraps what went wrong on the wire. */
export function reasonOf(error: unknown): string {
  const messages = [...chainOf(error)]
    .map((one) => shapeOf(one).message)
    .filter((text) => typeof text === 'string' && text);
  return String(messages.at(-1) ?? error);
}
