import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { BlobStoreError, type BlobStoreFault } from '@millrace/assets';
import {
  ErrorEnvelopeSchema,
  GATEWAY_HEADERS,
  GATEWAY_PATH,
  GATEWAY_POLL_MS,
  GATEWAY_PROTOCOL,
  Refusal,
  type ErrorCode,
  type ErrorEnvelope,
} from '@millrace/contracts';
import { OutputRefused, type ClaimedAttempt } from '@millrace/jobs';
import { OutOfReach } from '../attempt';
import { bytesFrom, idleLimit, reasonOf, request, restFrom } from './bytes';

const TIMEOUT_MS = 8_000;
/** Of a request that carries bytes, or waits until bytes are read and hashed. */
export const BYTES_TIMEOUT_MS = 300_000;
/** A body is given time as if the link took so many of its bytes in a millisecond: how far one has come cannot be seen. */
const LEAST_BYTES_PER_MS = 128;
/** Longer than the gateway lets anyone wait. */
const WAIT_TIMEOUT_MS = GATEWAY_POLL_MS + TIMEOUT_MS;
const TIMEOUTS = { short: TIMEOUT_MS, bytes: BYTES_TIMEOUT_MS, wait: WAIT_TIMEOUT_MS };

/** A job comes with its graph, which has up to 100 MiB where the deployment takes such, and more as a text within JSON. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

const CLIENT_ERROR = 400;
const UNAUTHORIZED = 401;
const SERVER_ERROR = 500;
const TOO_MANY = 429;
/** Longer than any gateway says: what is in between may say anything. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** The gateway did not answer, or could not do what it was asked. */
export class GatewayUnreachable extends OutOfReach {
  /** Before that the gateway would answer the same, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(message: string, { retryAfterMs = 0, ...options }: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.name = 'GatewayUnreachable';
    this.retryAfterMs = retryAfterMs;
  }
}

/** It may be a token that was put back, or a gateway that is replaced: the lease says how long that matters. */
export class TokenRefused extends GatewayUnreachable {}

/** How a request is sent. */
export interface GatewayRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Under `/gateway/v1/`. */
  path: string;
  /** Sent as JSON, or as it is where it is bytes. */
  body?: object | Buffer;
  /** Of the attempt that it is about. */
  fence?: Pick<ClaimedAttempt, 'jobId' | 'attempt' | 'leaseToken'>;
  headers?: Record<string, string>;
  /** How long it may take to be answered beside the sending of its body, and from one byte of the answer to the next. */
  takes?: keyof typeof TIMEOUTS;
  signal?: AbortSignal | undefined;
}

/** How bytes are read. */
export interface DownloadRequest extends Omit<GatewayRequest, 'takes'> {
  /** The position of the first byte that is wanted. */
  from?: number;
}

/** Speaks to the gateway: one request, one answer, which is checked. Retries are for the caller, who knows what is worth one. */
export class GatewayClient {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /**
   * @throws GatewayUnreachable; Refusal with the code that was answered; BlobStoreError where the store behind the gateway failed;
   * OutputRefused for an output that cannot be recorded.
   */
  async ask<T extends z.ZodType>(schema: T, request: GatewayRequest): Promise<z.output<T>> {
    const { body, takes = 'short' } = request;
    const bytes = body instanceof Buffer || body === undefined ? body : Buffer.from(JSON.stringify(body));
    const limit = idleLimit(TIMEOUTS[takes] + (bytes?.length ?? 0) / LEAST_BYTES_PER_MS, request.signal);
    try {
      const response = await this.send(request, limit.signal, bytes);
      const parsed = schema.safeParse(await jsonOf(response, limit.onMore));
      if (parsed.success) return parsed.data;
    } finally {
      limit.release();
    }
    throw new GatewayUnreachable(
      `the gateway answered ${request.path} with something else than this worker understands`,
    );
  }

  /** The bytes of an answer, which may take any time as long as some come. @throws as `ask` does; the stream, OutOfReach. */
  download({ from = 0, ...request }: DownloadRequest): Promise<Readable> {
    const headers = { ...request.headers, ...restFrom(from) };
    return bytesFrom(from, request.signal, (signal) => this.send({ ...request, headers }, signal));
  }

  private async send(
    { method, path, body, fence, headers }: GatewayRequest,
    signal: AbortSignal,
    bytes?: Buffer,
  ): Promise<Response> {
    const isBytes = body instanceof Buffer;
    const base = fence === undefined ? '' : `jobs/${fence.jobId}/attempts/${fence.attempt}/`;
    const sent = request(`${this.url}${GATEWAY_PATH}/${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        [GATEWAY_HEADERS.protocol]: String(GATEWAY_PROTOCOL),
        ...(fence !== undefined && { [GATEWAY_HEADERS.lease]: fence.leaseToken }),
        ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
        ...headers,
      },
      ...(bytes !== undefined && { body: new Uint8Array(bytes) }),
      signal,
    });
    const response = await sent.catch(({ message, cause }: Error) => {
      throw new GatewayUnreachable(message, { cause });
    });
    if (response.ok) return response;
    throw errorOf(response, await jsonOf(response));
  }
}

/** The JSON of an answer; undefined where it is none. */
async function jsonOf({ body }: Response, onMore?: () => void): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      onMore?.();
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) throw new Error('it has more than 256 MiB');
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new GatewayUnreachable(`the answer broke off: ${reasonOf(error)}`, { cause: error });
  }
}

/** What an answer that is no success means for the worker. */
function errorOf({ status, headers }: Response, body: unknown): Error {
  const envelope = ErrorEnvelopeSchema.safeParse(body).data?.error;
  const { store, output_refused: isOutput } = envelope?.details ?? {};
  if (typeof store === 'string') return new BlobStoreError(store as BlobStoreFault, envelope?.message ?? '');
  if (isOutput === true) return new OutputRefused(envelope?.message ?? '');
  if (envelope === undefined || status < CLIENT_ERROR || status >= SERVER_ERROR || status === TOO_MANY) {
    return new GatewayUnreachable(`the gateway answered with status ${status}`, {
      retryAfterMs: retryAfterMs(headers),
    });
  }
  if (status === UNAUTHORIZED) return new TokenRefused(`the gateway refuses the token: ${envelope.message}`);
  return refusalOf(envelope);
}

function retryAfterMs(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), MAX_RETRY_AFTER_SECONDS) * 1_000 : 0;
}

function refusalOf({ code, message, details }: ErrorEnvelope['error']): Refusal {
  return new Refusal(code as ErrorCode, message, details ? { details } : {});
}

/** Whether the gateway says that the attempt of a request is not ours any more. */
export function isNotHeld(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'forbidden';
}

/** Whether the gateway has nothing there, as one of an earlier version. */
export function isUnknown(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'not_found';
}
