import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Below half of the lease: a controller whose server hangs has given up before another one leads. */
const TIMEOUT_MS = 4_000;
const LARGEST_MESSAGE = 300;

/** Where the API server is, and as whom it is asked. */
export interface ClusterAccess {
  url: string;
  /** Read before each request: Kubernetes replaces it while the pod runs. */
  tokenFile: string;
  /** Of the server's authority; null: those that the system trusts. */
  caFile: string | null;
}

export type ApiMethod = 'GET' | 'PATCH' | 'DELETE';

export interface ApiRequest {
  /** What the body is; a server-side apply has `application/apply-patch+yaml`. */
  contentType?: string;
  body?: object;
}

/** What the API server answered instead of what was asked for. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  /** @param status 0 where there was no answer. */
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }
}

/** HTTP to the Kubernetes API server: JSON, a token, a timeout. */
export class KubernetesApi {
  private readonly agent: HttpAgent;

  constructor(private readonly access: ClusterAccess) {
    const { url, caFile } = access;
    const keepAlive = { keepAlive: true, maxSockets: 8 };
    this.agent = url.startsWith('https:')
      ? new HttpsAgent({ ...keepAlive, ...(caFile === null ? {} : { ca: readFileSync(caFile) }) })
      : new HttpAgent(keepAlive);
  }

  /** @throws ApiError with its status; 0 where no answer came in time. */
  async call<T>(method: ApiMethod, path: string, { contentType, body }: ApiRequest = {}): Promise<T> {
    const answer = await this.send(method, path, contentType, body === undefined ? undefined : JSON.stringify(body));
    if (answer.status >= 200 && answer.status < 300) return answer.body as T;
    const { message } = answer.body as { message?: unknown };
    const said = typeof message === 'string' ? message.slice(0, LARGEST_MESSAGE) : 'no reason given';
    throw new ApiError(answer.status, `Kubernetes answered ${answer.status}: ${said}`, answer.retryAfterMs);
  }

  close(): void {
    this.agent.destroy();
  }

  private send(
    method: ApiMethod,
    path: string,
    contentType = 'application/json',
    body = '',
  ): Promise<{ status: number; body: unknown; retryAfterMs: number | null }> {
    const url = new URL(path, this.access.url);
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(new ApiError(0, `Kubernetes does not answer: ${signal.aborted ? 'timeout' : error.message}`));
      const headers = {
        // A file that is not there fails the request, as a token that is refused does.
        authorization: `Bearer ${readFileSync(this.access.tokenFile, 'utf8').trim()}`,
        accept: 'application/json',
        'content-type': contentType,
        // Node.js adds none to a DELETE by itself.
        'content-length': Buffer.byteLength(body),
      };
      const sent = request(url, { method, headers, agent: this.agent, signal }, (answer) => {
        readJson(answer).then((read) => {
          const seconds = Number(answer.headers['retry-after'] ?? Number.NaN);
          const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : null;
          resolve({ status: answer.statusCode ?? 0, body: read, retryAfterMs });
        }, failed);
      });
      sent.on('error', failed);
      sent.end(body);
    });
  }
}

/** An answer that is no JSON, as a proxy in between gives, is an empty object: its status says enough. */
async function readJson(answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return {};
  }
}
