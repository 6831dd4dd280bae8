import { ErrorEnvelopeSchema } from '@millrace/contracts';
import type { TestProcess } from '@millrace/testing';
import { exchangeRaw, type RawAnswer, type RawExchange } from '../../contract/support/raw-http';

/** Long enough for the slowest machine. */
const HANG_MS = 60_000;
/** A request that may promise more than it sends is ended after this. */
const END_MS = 2_000;
/** Long enough for what was sent to arrive. */
const CUT_MS = 5;
/** No error needs more to say what is wrong. */
const MAX_ERROR_BYTES = 65_536;

/** An api process that gets requests as bytes, and what must hold of every answer to them. */
export class FuzzTarget {
  private readonly pid: number;

  /** @param hangMs an answer that takes longer counts as none. */
  constructor(
    private readonly api: Pick<TestProcess, 'pid' | 'publicUrl' | 'exitCode' | 'lines'>,
    private readonly apiKey: string,
    private readonly hangMs = HANG_MS,
  ) {
    this.pid = api.pid;
  }

  /** The bytes of a request that its account may send. */
  requestOf(method: string, path: string, headers: Record<string, string>, body: string | Buffer): Buffer {
    const bytes = Buffer.from(body);
    const lines = Object.entries({
      Host: '127.0.0.1',
      Authorization: `Bearer ${this.apiKey}`,
      Connection: 'close',
      ...(bytes.length > 0 ? { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) } : {}),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
  }

  /**
   * Send a request in these pieces. Answered as soon as its head is there: streams and downloads do not end.
   *
   * What was sent may be half a request: the service may close the connection without an answer.
   *
   * @param cutOff whether the sender goes away when all is sent, even if it promised more.
   * @returns the answer; none from a connection that was closed.
   * @throws when it hangs, fails with 5xx, or is refused in another form than the envelope.
   */
  async send(pieces: Buffer[], { cutOff = false } = {}): Promise<RawAnswer | undefined> {
    const { answers, closed } = await this.exchange(pieces, { endAfterMs: cutOff ? CUT_MS : END_MS });
    const [answer] = answers;
    if (answer === undefined && closed) return undefined;
    return judge(answer, textOf(pieces));
  }

  /**
   * Send a whole request in these pieces, and keep the connection open until it is answered: `send` for what must have an answer.
   *
   * @param whole wait for all of the answer's body.
   * @throws as `send` does, and when the connection is closed without an answer.
   */
  async ask(pieces: Buffer[], { whole = false } = {}): Promise<RawAnswer> {
    const { answers, closed } = await this.exchange(pieces, { whole });
    const [answer] = answers;
    if (answer === undefined && closed) throw new Error(`closed without an answer: ${textOf(pieces)}`);
    return judge(answer, textOf(pieces));
  }

  private exchange(
    pieces: Buffer[],
    { endAfterMs, whole = false }: { endAfterMs?: number; whole?: boolean },
  ): Promise<RawExchange> {
    return exchangeRaw(this.api.publicUrl, {
      pieces,
      withinMs: this.hangMs,
      ...(endAfterMs !== undefined && { endAfterMs }),
      until: (text) => wholeAnswer.test(text) && bodyIsThere(text, whole),
    });
  }

  /** @throws when the process that was there at the beginning is gone, or has failed to answer a request. */
  assertAlive(): void {
    if (this.api.exitCode !== null || this.api.pid !== this.pid) {
      throw new Error(`the process ended: ${this.api.lines.slice(-20).join('\n')}`);
    }
    const failed = this.api.lines.filter((line) => line.includes('request failed'));
    if (failed.length > 0) throw new Error(`requests failed: ${failed.join('\n')}`);
  }
}

const textOf = (pieces: Buffer[]): string => Buffer.concat(pieces).toString('latin1').slice(0, 2_000);

/** What must hold of every answer, and that there is one. */
function judge(answer: RawAnswer | undefined, request: string): RawAnswer {
  const sent = JSON.stringify(request);
  if (answer === undefined) throw new Error(`it hangs: ${sent}`);
  if (answer.status >= 500) throw new Error(`${answer.status} ${answer.body}: ${sent}`);
  if (answer.headers['x-request-id'] === undefined) throw new Error(`without a request id: ${sent}`);
  if (answer.status === 429 && !/^[1-9]\d*$/.test(answer.headers['retry-after'] ?? '')) {
    throw new Error(`without a time to wait: ${sent}`);
  }
  // What follows an answer to HEAD is the next answer: its length is that of a body that is not sent.
  if (answer.status < 400 || answer.body === '' || /^\s*HEAD\s/.test(request)) return answer;
  if (answer.body.length > MAX_ERROR_BYTES) throw new Error(`an error of ${answer.body.length} bytes: ${sent}`);
  if (!ErrorEnvelopeSchema.strict().safeParse(JSON.parse(answer.body)).success) {
    throw new Error(`not an envelope: ${answer.body}: ${sent}`);
  }
  return answer;
}

const wholeAnswer = /^HTTP\/1\.1 [2-5]\d\d [^]*?\r\n\r\n/;

function bodyIsThere(text: string, whole: boolean): boolean {
  const end = text.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return length === undefined || text.length - end >= Number(length) || (!whole && text.startsWith('HTTP/1.1 2'));
}
