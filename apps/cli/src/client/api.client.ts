import { ErrorEnvelopeSchema } from '@millrace/contracts';
import type { Settings } from '../login';
import {
  CliFailure,
  type FailureFacts,
  type Host,
  Interrupted,
  isAbort,
  reasonOf,
  ServiceFailure,
  ServiceRefusal,
  wasNotSent,
} from '../process';
import { jsonOf } from './json-of';
import { recordOf, recordsOf } from './wire';
import type { StreamedBody } from './multipart-body';
import { MAX_REDIRECTS, mayFollow, redirectFailure, redirectOf } from './redirect';
import { shownBy } from './shown-by';
import { streamedRequest } from './streamed-request';

/** The body of an answer. */
export interface JsonAnswer {
  value: unknown;
  text: string;
}

export interface CallOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string;
  /** Sends what this opens, as the connection takes it. */
  stream?: StreamedBody;
  /** Sends this value as a JSON body. */
  json?: unknown;
  signal?: AbortSignal;
  /** How many times it is tried; by default 3 for a read and 1 for a write, whose first try may have had its effect. */
  tries?: number;
  /** Of a POST or PATCH that is tried once here: sending it again does no harm. */
  isRepeatable?: boolean;
  /** A read of bytes, which the service may have at another origin, behind a link that needs no key. */
  isContent?: boolean;
  /** Of a write: its caller says what Ctrl-C does meanwhile, as it does by a `signal`. */
  isGuarded?: boolean;
  /** Milliseconds until the answer's head must be there; by default one minute. */
  headWithinMs?: number;
}

/** What Ctrl-C does during writes. */
export interface Writes {
  /** @throws {Interrupted} where it was pressed during an earlier write: nothing more is sent. */
  goOn(): void;
  /** Run a write until its answer is there. @throws {Interrupted} with this cure where the reader does not wait for it. */
  answered<T>(cure: string, request: () => Promise<T>): Promise<T>;
}

/** The longest `Retry-After` of a 429 that a read waits for by itself. */
const MAX_RETRY_AFTER_SECONDS = 10;
const RETRY_MS = 400;
const HEAD_WITHIN_MS = 60_000;

/**
 * HTTP to one service: addresses, the credential, the error envelope, retries of reads. The credential is sent only to the
 * origin of the base address (wire supplement, section 5).
 */
export class ApiClient {
  constructor(
    private readonly settings: Settings,
    private readonly host: Host,
    private readonly writes: Writes,
    private readonly userAgent: string,
  ) {}

  get baseUrl(): URL {
    return this.settings.baseUrl;
  }

  /** An operation of the contract. */
  api(path: string): URL {
    return new URL(`${this.settings.baseUrl.pathname.replace(/\/$/, '')}/api/v2${path}`, this.settings.baseUrl);
  }

  /** An operation of the platform API, which is at the origin, also where the base address has a prefix. */
  platform(path: string): URL {
    return new URL(`/platform/v1${path}`, this.settings.baseUrl);
  }

  /** An operation of the platform API on the surface of the base address: a deployment's, where the address is a deployment's. */
  platformHere(path: string): URL {
    return new URL(`${this.settings.baseUrl.pathname.replace(/\/$/, '')}/platform/v1${path}`, this.settings.baseUrl);
  }

  /** A link that the service sent: resolved against the origin, never joined to the base address (contract, 2.5). */
  link(reference: string): URL {
    if (!URL.canParse(reference, this.settings.baseUrl.href))
      throw new ServiceFailure(`The service sent an invalid link: ${JSON.stringify(reference)}.`);
    return new URL(reference, this.settings.baseUrl);
  }

  /**
   * Send a request and return the answer once its head has arrived with status 2xx.
   *
   * @throws {ServiceRefusal} on 4xx
   * @throws {ServiceFailure} when the service cannot be reached, or fails; of a write that may have been done all the same its
   *   cure says so
   * @throws {ServiceRedirect} when the service is at another address
   * @throws {Interrupted} when `signal` aborts
   */
  async open(url: URL, options: CallOptions = {}): Promise<Response> {
    const tries = options.tries ?? ((options.method ?? 'GET') === 'GET' ? 3 : 1);
    let sent: unknown;
    this.writes.goOn();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.once(url, options);
      } catch (error) {
        if (!wasNotSent(error)) sent = error;
        const waitMs = attempt < tries ? repeatAfterMs(error, attempt) : null;
        // A try that was not sent says nothing of one before, which may have had its effect.
        if (waitMs === null) throw sent ?? error;
        await this.host.wait(waitMs, options.signal).catch((aborted: unknown) => {
          throw options.signal?.aborted ? new Interrupted('Interrupted.') : aborted;
        });
      }
    }
  }

  /** The JSON value of an answer; null where it has no body. */
  async json(url: URL, options: CallOptions = {}): Promise<unknown> {
    return (await this.answer(url, options)).value;
  }

  /** The JSON value of an answer, and its text, in which the numbers of a graph have all their digits. */
  async answer(url: URL, options: CallOptions = {}): Promise<JsonAnswer> {
    const text = (await this.text(url, options)) || 'null';
    try {
      return { value: JSON.parse(text), text };
    } catch {
      throw new ServiceFailure(`${url.host} answered with something that is not JSON.`, {
        code: 'unexpected_answer',
        cure: 'Check that the address is that of a Millrace service.',
      });
    }
  }

  /** A page of a list. One may be empty and not the last: then it is the first behind it that has something, or the last. */
  async page(url: URL, options: CallOptions = {}): Promise<unknown> {
    const from = new URL(url);
    for (;;) {
      const answer = await this.json(from, options);
      const { next_cursor: next } = recordOf(answer);
      if (typeof next !== 'string' || recordsOf(answer).length > 0) return answer;
      from.searchParams.set('cursor', next);
    }
  }

  async text(url: URL, options: CallOptions = {}): Promise<string> {
    const read = async (): Promise<string> => {
      const response = await this.open(url, options);
      return response.text().catch((error: unknown) => Promise.reject(this.unreached(url, error, options)));
    };
    const cure = options.isGuarded || options.signal || options.stream ? undefined : cureOfLost(url, options);
    return cure === undefined ? read() : this.writes.answered(cure, read);
  }

  /** @param isKeyed false behind another origin: where that leads, a link needs no key. */
  private async once(url: URL, options: CallOptions, redirects = 0, isKeyed = true): Promise<Response> {
    const { method = 'GET', json, headWithinMs = HEAD_WITHIN_MS } = options;
    const headers: Record<string, string> = { 'user-agent': this.userAgent, ...options.headers };
    if (isKeyed && this.settings.apiKey && url.origin === this.settings.baseUrl.origin)
      headers.authorization = `Bearer ${this.settings.apiKey}`;
    if (json !== undefined) headers['content-type'] = 'application/json';
    const body = json === undefined ? options.body : jsonOf(json);
    const request = { method, headers, body, redirect: 'manual' } as const;
    const answer = options.stream
      ? streamedRequest(url, { method, headers, body: options.stream, signal: options.signal })
      : fetchWithin(headWithinMs, url, request, options.signal);
    const response = await answer.catch((error: unknown) => Promise.reject(this.unreached(url, error, options)));
    if (response.ok) return response;
    const to = redirectOf(response, url);
    if (to === null) throw await failureOf(response, url, options);
    await response.body?.cancel();
    const redirected = { from: url, to, base: this.settings.baseUrl };
    if (method !== 'GET' || redirects === MAX_REDIRECTS || !mayFollow(redirected, options.isContent === true))
      throw redirectFailure(redirected);
    const isWithin = to.origin === url.origin;
    return this.once(to, isWithin ? options : { ...options, headers: {} }, redirects + 1, isKeyed && isWithin);
  }

  private unreached(url: URL, error: unknown, options: CallOptions): CliFailure {
    if (options.signal?.aborted) return new Interrupted('Interrupted.');
    // What is sent could not be read any further.
    if (error instanceof CliFailure) return error;
    const reason = isAbort(error) ? 'it did not answer in time' : reasonOf(error);
    const cure = wasNotSent(error) ? undefined : cureOfLost(url, options);
    if (cure !== undefined)
      return new ServiceFailure(`The answer of ${url.origin} did not arrive: ${reason}.`, { cause: error, cure });
    return new ServiceFailure(`${url.origin} cannot be reached: ${reason}.`, {
      cause: error,
      cure: 'Check the address, and that the service is running.',
    });
  }
}

/** Waits for the head of an answer no longer than this; its body has no limit. */
async function fetchWithin(ms: number, url: URL, request: RequestInit, signal?: AbortSignal): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  try {
    return await fetch(url, { ...request, signal: signal ? AbortSignal.any([late.signal, signal]) : late.signal });
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds to wait before a failed call is worth repeating, or null when it is not. */
function repeatAfterMs(error: unknown, attempt: number): number | null {
  if (error instanceof ServiceFailure) return RETRY_MS * 2 ** (attempt - 1);
  const seconds = error instanceof ServiceRefusal && error.facts.status === 429 ? error.facts.retryAfterSeconds : null;
  return seconds && seconds <= MAX_RETRY_AFTER_SECONDS ? seconds * 1000 : null;
}

/** What to do about a write that was sent and whose outcome nobody said; undefined for a read, which has none. */
function cureOfLost(url: URL, { method = 'GET', tries = 1, isRepeatable = false }: CallOptions): string | undefined {
  if (method === 'GET') return undefined;
  const isHarmless = isRepeatable || tries > 1 || method === 'PUT' || method === 'DELETE';
  const next = isHarmless ? '; sending it again does no harm.' : ': look before you send it again.';
  const command = shownBy(url);
  return `Whether it was done is not known${next}${command === null ? '' : ` See \`${command}\`.`}`;
}

async function failureOf(response: Response, url: URL, options: CallOptions): Promise<CliFailure> {
  const { status, headers } = response;
  const envelope = ErrorEnvelopeSchema.safeParse(parsed(await response.text().catch(() => '')));
  const facts: FailureFacts = {
    code: envelope.data?.error.code ?? `http_${status}`,
    status,
    details: envelope.data?.error.details,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds:
      status === 429 ? Math.max(1, Number.parseInt(headers.get('retry-after') ?? '', 10) || 1) : undefined,
  };
  const message = envelope.data?.error.message ?? `${url.host} answered ${status} ${response.statusText}`.trim();
  if (status >= 400 && status < 500) return new ServiceRefusal(message, facts);
  if (status >= 500) return new ServiceFailure(message, { ...facts, cure: cureOfLost(url, options) });
  return new ServiceFailure(message, { ...facts, cure: 'Check that the address is that of a Millrace service.' });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
