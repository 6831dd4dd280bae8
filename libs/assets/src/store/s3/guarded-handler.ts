import { Readable } from 'node:stream';
import type { GuardedClient } from '@millrace/platform';

/** More of an answer is no answer of S3 to what is asked here. */
const ANSWER_BYTES = 262_144;
/** Set by the client of HTTP itself. */
const OWN_HEADERS = new Set(['host', 'connection', 'expect', 'transfer-encoding']);

/** A request as the SDK hands it over, with its signature. */
interface SdkRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

interface SdkResponse {
  statusCode: number;
  reason?: string;
  headers: Record<string, string>;
  body: Readable;
}

/**
 * Sends the requests of the SDK over guarded connections (`platform`, outbound), which those of the SDK's own handlers are not. Bodies are in memory, as parts of files are; answers are short.
 */
export class GuardedHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };

  constructor(private readonly client: GuardedClient) {}

  async handle(
    request: SdkRequest,
    { abortSignal }: { abortSignal?: unknown } = {},
  ): Promise<{ response: SdkResponse }> {
    // The path as it was signed.
    const target = { origin: originOf(request), path: request.path + queryOf(request.query ?? {}) };
    const { statusCode, headers, body } = await this.client.request(target, {
      method: request.method,
      headers: Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())),
      ),
      body: (request.body ?? null) as Buffer | string | null,
      signal: (abortSignal as AbortSignal | undefined) ?? null,
    });
    const answer: Record<string, string> = {};
    for (const [name, value = ''] of Object.entries(headers)) answer[name] = String(value);
    const bytes = request.method === 'HEAD' ? Buffer.alloc(0) : await shortBody(body);
    return { response: { statusCode, headers: answer, body: Readable.from([bytes], { objectMode: false }) } };
  }

  /** The client is closed by who made it. */
  destroy(): void {}

  httpHandlerConfigs(): object {
    return {};
  }

  updateHttpClientConfig(): void {}
}

function originOf({ protocol, hostname, port }: SdkRequest): string {
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
}

/** As it was signed (AWS Signature Version 4, "Create a canonical request"). */
function queryOf(query: NonNullable<SdkRequest['query']>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.map((one) => (one === null ? escaped(name) : `${escaped(name)}=${escaped(one)}`));
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

async function shortBody(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > ANSWER_BYTES) throw new Error(`an answer of more than ${ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
}
