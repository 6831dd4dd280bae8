import {
  AddressRefused,
  CONNECT_MS,
  GuardedClient,
  type GuardedAnswer,
  type AddressGuard,
  type ResolveHost,
} from '@millrace/platform';

/** More of an answer is not read: its connection is closed. */
const ANSWER_BYTES = 16_384;
/** Of an answer, for the log of attempts. */
const LOGGED_CHARACTERS = 1_024;

/** What came of sending a message. */
export interface SendResult {
  /** Null where no answer came. */
  status: number | null;
  /** Why none came, in a sentence for the owner of the endpoint; null where one did. */
  error: string | null;
  durationMs: number;
  /** The first characters of the answer. */
  answer: string;
}

/** Sends messages to receivers that nobody knows, over guarded connections. It follows no redirects, and reads little of the answer. */
export class ReceiverClient {
  private readonly client: GuardedClient;

  constructor(
    private readonly guard: AddressGuard,
    private readonly timeoutMs: number,
    resolve?: ResolveHost,
  ) {
    this.client = new GuardedClient(guard, timeoutMs, resolve);
  }

  /** Never rejects. */
  async post(url: string, headers: Record<string, string>, body: string): Promise<SendResult> {
    const beganMs = performance.now();
    const result = await this.send(url, { headers, body }).catch((error: unknown) => ({
      status: null,
      error: reasonOf(error, this.timeoutMs),
      answer: '',
    }));
    return { ...result, durationMs: Math.round(performance.now() - beganMs) };
  }

  private async send(
    url: string,
    { headers, body }: { headers: Record<string, string>; body: string },
  ): Promise<Omit<SendResult, 'durationMs'>> {
    // Rules of today: the URL may have been accepted under others.
    const fault = this.guard.faultOf(url);
    if (fault !== null) return { status: null, error: `The URL ${fault}.`, answer: '' };
    const signal = AbortSignal.timeout(this.timeoutMs);
    const response = await this.client.request(url, { method: 'POST', headers, body, signal });
    return { status: response.statusCode, error: null, answer: await beginningOf(response) };
  }

  /** Cut what is under way. */
  close(): Promise<void> {
    return this.client.close();
  }
}

/** The first characters of an answer; the rest is left unread where it is long. */
async function beginningOf({ body }: GuardedAnswer): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= ANSWER_BYTES) break;
    }
  } catch {
    // The status decides. What was read until then is the answer.
  }
  const text = Buffer.concat(chunks).toString('utf8').slice(0, LOGGED_CHARACTERS);
  // What PostgreSQL cannot store, and what would let one line of a log pass for two.
  return text.replace(/[^\P{Cc}\n\t]|\p{Cs}/gu, '\ufffd');
}

/** By the codes of Node.js and undici. */
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection.',
  UND_ERR_SOCKET: 'The receiver closed the connection.',
  ENOTFOUND: 'The name of the receiver has no address.',
  ENODATA: 'The name of the receiver has no address.',
  UND_ERR_CONNECT_TIMEOUT: `No connection to the receiver within ${CONNECT_MS / 1_000} s.`,
};

function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof AddressRefused) return 'The receiver is not at a public address.';
  const { name, code, message } = error as { name?: string; code?: string | number; message?: string };
  const isLate = name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  if (isLate) return `The receiver did not answer within ${timeoutMs / 1_000} s.`;
  return REASONS[code ?? ''] ?? `The message could not be sent: ${(message ?? 'an unknown error').slice(0, 200)}.`;
}
