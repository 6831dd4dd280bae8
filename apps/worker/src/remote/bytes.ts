import { Readable, Transform } from 'node:stream';
import { joinSignals, type JoinedSignal } from '@millrace/platform';
import { OutOfReach } from '../attempt';

/**
 * Of bytes that are read: from one to the next. How long all of them take depends on their number and on the link. Shorter than who reads a model waits
 * (`stallMs`): a link that stalls is found out first.
 */
const BYTES_IDLE_MS = 20_000;

const PARTIAL = 206;

/** Nothing came for too long. */
export class Stalled extends Error {}

/**
 * What ends a request: a time in which nothing came, or the signal of who asks. `onMore` is called with each piece that comes. Released when all of the
 * answer is there, or nobody wants it any more.
 */
export function idleLimit(idleMs: number, signal?: AbortSignal): JoinedSignal & { onMore: () => void } {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Stalled('nothing came any more')), idleMs).unref();
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
export function restFrom(from: number): Record<string, string> {
  return from > 0 ? { range: `bytes=${from}-` } : {};
}

/**
 * The bytes of an answer from a position on. Who answers may not know of ranges and send all of them: those before are dropped then.
 *
 * @throws what `send` does; the stream, OutOfReach.
 */
export async function bytesFrom(
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
    source.once('error', (cause) => bytes.destroy(new OutOfReach('the bytes broke off', { cause })));
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

/** What came of a request. Its errors say where there was no answer. @throws OutOfReach. */
export async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    // A redirect could lead the token elsewhere.
    return await fetch(url, { ...init, redirect: 'error' });
  } catch (error) {
    throw new OutOfReach(`no answer from ${new URL(url).host}: ${reasonOf(error)}`, { cause: error });
  }
}

export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
