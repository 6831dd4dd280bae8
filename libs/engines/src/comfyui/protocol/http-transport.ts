import { createWriteStream } from 'node:fs';
import { Agent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Fetched, FetchTarget } from './server-file';
import { MAX_ANSWER_BYTES, TooLarge, tooLargeMessage } from './size-bounds';

export interface TransportOptions {
  /** Where ComfyUI answers, with the path below which its routes stand: `http://127.0.0.1:8188`, `https://gpu.example/comfy`. */
  url: string;
  /** Sent with every request, e.g. for a proxy that wants a credential. */
  headers: Readonly<Record<string, string>>;
  /** Until a request is answered in full; for files: until the next bytes. */
  timeoutMs: number;
}

export interface Answer {
  status: number;
  text: string;
}

export interface RequestToSend {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  /** Sent as JSON. */
  body?: string;
  timeoutMs?: number;
  /** Of an answer that nodes can fill; `MAX_ANSWER_BYTES` of any other. */
  maxBytes?: number;
}

const NO_ANSWER = 'ETIMEDOUT';

type OutgoingHeaders = Record<string, string | number>;

/** No answer came that can be read. `sent` false: the request certainly never reached the server, and may be sent again. */
export class Unreachable extends Error {
  constructor(
    readonly sent: boolean,
    cause: Error,
  ) {
    super(`ComfyUI does not answer: ${cause.message || cause.name}`, { cause });
  }

  /** The server took the request and did not answer it in time: a process that is gone, or is still starting, takes none. */
  get isSilence(): boolean {
    return this.sent && (this.cause as NodeJS.ErrnoException).code === NO_ANSWER;
  }
}

/**
 * HTTP on connections that stay open: a request to a server on the same machine takes about half a millisecond. Built on
 * `node:http` rather than `fetch`, because its errors show whether a failed request can have reached the server.
 */
export class HttpTransport {
  private readonly base: URL;
  private readonly agent: Agent;

  constructor(private readonly options: TransportOptions) {
    this.base = new URL(options.url);
    const settings = { keepAlive: true, maxSockets: 8 };
    this.agent = this.base.protocol === 'https:' ? new SecureAgent(settings) : new Agent(settings);
  }

  /**
   * @throws {Unreachable} when no whole answer came within the time allowed, or one that is larger than any should be
   * @throws {TooLarge} when the answer has more than the `maxBytes` that are given, which are not read
   */
  send(request: RequestToSend): Promise<Answer> {
    return this.sendOver(this.agent, request);
  }

  /** As `send`, a second time when a connection that lay idle turns out to be gone. For requests that may be repeated. */
  async sendRepeatably(request: RequestToSend): Promise<Answer> {
    try {
      return await this.send(request);
    } catch (error) {
      // Over a connection of its own: others that lay idle are gone with the first.
      if (error instanceof Unreachable && isReset(error.cause as Error)) return await this.sendOver(false, request);
      throw error;
    }
  }

  private async sendOver(agent: Agent | false, request: RequestToSend): Promise<Answer> {
    const body = request.body === undefined ? undefined : Buffer.from(request.body);
    const headers: OutgoingHeaders = body ? { 'content-type': 'application/json', 'content-length': body.length } : {};
    const exchange = this.open(request.method, request.path, headers, { agent });
    const timer = exchange.failAfter(request.timeoutMs ?? this.options.timeoutMs);
    try {
      exchange.request.end(body);
      const response = await exchange.response;
      return { status: response.statusCode ?? 0, text: await readText(response, request) };
    } catch (error) {
      throw exchange.failure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Sends a file between two pieces of a body, over a connection of its own: one that lay idle may be gone. An answer that
   * comes before the end of it (413) ends the sending.
   */
  async sendFile(path: string, contentType: string, file: MultipartFile): Promise<Answer> {
    const length = file.head.length + file.sizeBytes + file.tail.length;
    const headers = { 'content-type': contentType, 'content-length': length };
    const exchange = this.open('POST', path, headers, { agent: false });
    exchange.failWhenIdle(this.options.timeoutMs);
    exchange.request.write(file.head);
    const sent = pipeline(file.content(), exchange.request, { end: false });
    const whole = sent.then(() => void exchange.request.end(file.tail));
    try {
      const response = await Promise.race([exchange.response, whole.then(() => exchange.response)]);
      return { status: response.statusCode ?? 0, text: await readText(response, { method: 'POST', path }) };
    } catch (error) {
      throw exchange.failure(error);
    } finally {
      if (!exchange.request.writableEnded) exchange.request.destroy();
      await whole.catch(() => undefined);
    }
  }

  /** Fetches the body of a 200; that of another status is null. Asks a second time when a connection that lay idle turns out to be gone. */
  async receiveBody(
    path: string,
    target: FetchTarget,
    signal: AbortSignal,
  ): Promise<{ status: number; body: Fetched | null }> {
    const first = this.ask(path, { signal });
    const exchange = (await first.isStale()) ? this.ask(path, { signal, agent: false }) : first;
    try {
      const response = await exchange.response;
      const status = response.statusCode ?? 0;
      if (status === 200) return { status, body: await bodyOf(response, target) };
      response.resume();
      return { status, body: null };
    } catch (error) {
      throw exchange.failure(error);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private ask(path: string, options: { agent?: false; signal: AbortSignal }): Exchange {
    const exchange = this.open('GET', path, {}, options);
    exchange.failWhenIdle(this.options.timeoutMs);
    exchange.request.end();
    return exchange;
  }

  private open(
    method: string,
    path: string,
    headers: OutgoingHeaders,
    options: { agent?: Agent | false; signal?: AbortSignal } = {},
  ): Exchange {
    const send = this.base.protocol === 'https:' ? requestHttps : requestHttp;
    return new Exchange(
      send({
        agent: this.agent,
        protocol: this.base.protocol,
        hostname: this.base.hostname.replace(/^\[|\]$/g, ''),
        port: this.base.port,
        path: `${this.base.pathname.replace(/\/$/, '')}${path}`,
        method,
        headers: { ...this.options.headers, ...headers },
        ...options,
      }),
    );
  }
}

export interface MultipartFile {
  head: Buffer;
  content: () => Readable;
  sizeBytes: number;
  tail: Buffer;
}

/** One request and what became of it. */
class Exchange {
  readonly response: Promise<IncomingMessage>;
  private connected = false;

  constructor(readonly request: ClientRequest) {
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => (this.connected = true));
      else this.connected = true;
    });
    this.response = new Promise((resolve, reject) => request.once('response', resolve).once('error', reject));
    // Awaited later, or never when writing the body fails first.
    this.response.catch(() => undefined);
  }

  failAfter(timeoutMs: number): NodeJS.Timeout {
    const late = (): Error => Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: NO_ANSWER });
    return setTimeout(() => this.request.destroy(late()), timeoutMs);
  }

  /** Whether it failed, before any answer, over a connection that lay idle and was gone. Resolves when that is known. */
  isStale(): Promise<boolean> {
    return this.response.then(
      () => false,
      (error: Error) => isReset(error),
    );
  }

  failWhenIdle(timeoutMs: number): void {
    this.request.setTimeout(timeoutMs, () => this.request.destroy(new Error(`nothing received for ${timeoutMs} ms`)));
  }

  failure(error: unknown): Error {
    this.request.destroy();
    const cause = error as Error;
    if (cause.name === 'AbortError' || cause instanceof TooLarge) return cause;
    return new Unreachable(this.connected, cause);
  }
}

function isReset({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

async function readText(
  response: IncomingMessage,
  { method, path, maxBytes }: Pick<RequestToSend, 'method' | 'path' | 'maxBytes'>,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    // One that nodes have no part in says nothing of a run by its size: it is as good as none.
    if (maxBytes === undefined && size > MAX_ANSWER_BYTES)
      throw new Error(tooLargeMessage(`${method} ${path}`, MAX_ANSWER_BYTES));
    if (maxBytes !== undefined && size > maxBytes) throw new TooLarge(`${method} ${path}`, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** An answer that breaks off fails, also where it is held: it is shorter than it says. */
async function bodyOf(response: IncomingMessage, { newPath, maxHeldBytes }: FetchTarget): Promise<Fetched> {
  const length = Number(response.headers['content-length'] ?? Number.NaN);
  if (length <= maxHeldBytes) return buffer(response);
  const path = await newPath();
  await pipeline(response, createWriteStream(path, { flags: 'wx' }));
  return path;
}
