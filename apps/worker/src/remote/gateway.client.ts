import { Readable, Transform } from 'node:stream';
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
import { joinSignals, type JoinedSignal } from '@millrace/platform';

const TIMEOUT_MS = 8_000;
/** Of a request that carries bytes, or waits until bytes are read and hashed. */
const BYTES_TIMEOUT_MS = 300_000;
/** Of bytes that are read: from one to the next. How long all of them take depends on their number and on the link. */
const BYTES_IDLE_MS = 60_000;
/** A body is given time as if the link took so many of its bytes in a millisecond: how far one has come cannot be seen. */
const LEAST_BYTES_PER_MS = 128;
/** Longer than the gateway lets anyone wait. */
const WAIT_TIMEOUT_MS = GATEWAY_POLL_MS + TIMEOUT_MS;
const TIMEOUTS = { short: TIMEOUT_MS, bytes: BYTES_TIMEOUT_MS, wait: WAIT_TIMEOUT_MS };

/** A job comes with its graph, which has up to 100 MiB where the deployment takes such, and more as a text within JSON. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

const PARTIAL = 206;
const CLIENT_ERROR = 400;
const UNAUTHORIZED = 401;
const SERVER_ERROR = 500;
const TOO_MANY = 429;
/** Longer than any gateway says: what is in between may say anything. */
const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * The gateway did not answer, or could not do what it was asked. Its `code` is one of those by which a failure counts as one that
 * passes (`isTransient`), as that of a database which is away.
 */
export class GatewayUnreachable extends Error {
  readonly code = 'ECONNRESET';
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

  /** The bytes of an answer, which may take any time as long as some come. @throws as `ask` does; the stream, BlobStoreError `unreachable`. */
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
    const response = await request(`${this.url}${GATEWAY_PATH}/${base}${path}`, {
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
    if (response.ok) return response;
    throw errorOf(response, await jsonOf(response));
  }
}

/** Put bytes to a link of the store. @throws BlobStoreError `unreachable` when they did not arrive. */
export async function putToStore(url: string, bytes: Buffer, signal?: AbortSignal): Promise<void> {
  const limit = idleLimit(BYTES_TIMEOUT_MS, signal);
  try {
    const response = await toStore(url, { method: 'PUT', body: new Uint8Array(bytes), signal: limit.signal });
    await response.arrayBuffer().catch(() => undefined);
    if (!response.ok) throw storeFault(response.status);
  } finally {
    limit.release();
  }
}

/**
 * Read what a link of the store leads to, the range of it that the headers name, or what comes from a position on, for as long as bytes come.
 *
 * @throws BlobStoreError, as the stream does.
 */
export function readFromStore(
  url: string,
  { from = 0, headers, signal }: Pick<DownloadRequest, 'from' | 'headers' | 'signal'> = {},
): Promise<Readable> {
  return bytesFrom(from, signal, async (ends) => {
    const response = await toStore(url, { method: 'GET', headers: { ...headers, ...restFrom(from) }, signal: ends });
    if (!response.ok) throw storeFault(response.status);
    return response;
  });
}

async function toStore(url: string, init: RequestInit): Promise<Response> {
  try {
    return await request(url, init);
  } catch (error) {
    throw new BlobStoreError('unreachable', 'The store did not answer.', { cause: error });
  }
}

function storeFault(status: number): BlobStoreError {
  const fault = status >= SERVER_ERROR || status === TOO_MANY ? 'unreachable' : status === 404 ? 'missing' : 'denied';
  return new BlobStoreError(fault, `The store answered a link with status ${status}.`);
}

/**
 * What ends a request: a time in which nothing came, or the signal of who asks. `onMore` is called with each piece that comes. Released when all of the
 * answer is there, or nobody wants it any more.
 */
function idleLimit(idleMs: number, signal?: AbortSignal): JoinedSignal & { onMore: () => void } {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Error('nothing came any more')), idleMs).unref();
  const joined = signal === undefined ? joinSignals(idle.signal) : joinSignals(idle.signal, signal);
  return {
    signal: joined.signal,
    onMore: () => void timer.refresh(),
    release: () => {
      clearTimeout(timer);
      joined.release();
    },
  };
}

/** A range is asked for only where there is one: content without bytes has none. */
function restFrom(from: number): Record<string, string> {
  return from > 0 ? { range: `bytes=${from}-` } : {};
}

/**
 * The bytes of an answer from a position on. Who answers may not know of ranges and send all of them: those before are dropped then.
 */
async function bytesFrom(
  from: number,
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<Readable> {
  const limit = idleLimit(BYTES_IDLE_MS, signal);
  try {
    const { body, status } = await send(limit.signal);
    let toDrop = status === PARTIAL ? 0 : from;
    const source = body === null ? Readable.from([]) : Readable.fromWeb(body);
    const bytes = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        limit.onMore();
        const wanted = chunk.subarray(toDrop);
        toDrop -= chunk.length - wanted.length;
        done(null, wanted.length > 0 ? wanted : undefined);
      },
    });
    source.once('error', (cause) =>
      bytes.destroy(new BlobStoreError('unreachable', 'The bytes broke off.', { cause })),
    );
    bytes.once('close', () => {
      source.destroy();
      limit.release();
    });
    return source.pipe(bytes);
  } catch (error) {
    limit.release();
    throw error;
  }
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    // A redirect could lead the token elsewhere.
    return await fetch(url, { ...init, redirect: 'error' });
  } catch (error) {
    throw new GatewayUnreachable(`no answer from ${new URL(url).host}: ${reasonOf(error)}`, { cause: error });
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

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
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
