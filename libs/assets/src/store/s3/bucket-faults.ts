import { AddressRefused } from '@millrace/platform';

/** How long the head of an answer, and then each piece of it, may take where the bucket is not the service's own. */
export const SILENT_MS = 30_000;

/** By the codes of S3, Node.js and undici. */
const REASONS: Record<string, string> = {
  NoSuchBucket: 'There is no such bucket.',
  AccessDenied: 'The credentials do not allow to write to the bucket (s3:PutObject).',
  InvalidAccessKeyId: 'The access key is not known to the server.',
  // The Versity S3 gateway.
  XAdminUserNotFound: 'The access key is not known to the server.',
  SignatureDoesNotMatch: 'The secret access key is not that of the access key.',
  PermanentRedirect: 'The bucket is in another region or at another endpoint.',
  AuthorizationHeaderMalformed: 'The bucket is in another region.',
  ECONNREFUSED: 'The server refused the connection.',
  ECONNRESET: 'The server closed the connection.',
  UND_ERR_SOCKET: 'The server closed the connection.',
  ENOTFOUND: 'The name of the server has no address.',
  ENODATA: 'The name of the server has no address.',
  UND_ERR_CONNECT_TIMEOUT: 'No connection to the server in time.',
  UND_ERR_HEADERS_TIMEOUT: `The server did not answer within ${SILENT_MS / 1_000} s.`,
  UND_ERR_BODY_TIMEOUT: `The server did not answer within ${SILENT_MS / 1_000} s.`,
};

/**
 * Why a bucket did not do what it was asked, in a sentence for its owner.
 *
 * @param signal of who asked, where the time for it is bounded.
 */
export function reasonOf(error: unknown, signal?: AbortSignal): string {
  if (error instanceof AddressRefused) return 'The server is not at a public address.';
  const { name = '', code = '', message = '' } = error as { name?: string; code?: string | number; message?: string };
  if (signal?.aborted) return 'The server did not take the file in time.';
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  const said = REASONS[name] ?? REASONS[code];
  if (said !== undefined) return said;
  // What a server says is no text of ours: its code is short, and the rest is not repeated.
  if (status !== undefined) return `The server answered ${status} (${name.replace(/[^\w.-]/g, '').slice(0, 60)}).`;
  return `The file could not be written: ${message.replace(/[^\P{Cc}]|\p{Cs}/gu, ' ').slice(0, 200)}.`;
}
