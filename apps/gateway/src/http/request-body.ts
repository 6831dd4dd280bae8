import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Refusal } from '@millrace/contracts';
import { GatheredBytes, assertFewPieces, dropRest, whenClosed } from '@millrace/platform';
import type { RequestBodies } from './request-bodies';

/** Bodies up to here do not count, so that heartbeats pass while others are refused. There are no more of them than connections. */
const UNCOUNTED_BYTES = 32_768;

/** A body must have arrived after so long, in milliseconds, and as if its link took so many of its bytes in one. */
const DEADLINE_MS = 60_000;
const LEAST_BYTES_PER_MS = 128;

const bodies = new WeakMap<IncomingMessage, RequestBody>();

/** The body of a request that is no JSON. */
export const BodyOf = createParamDecorator((_: unknown, context: ExecutionContext): RequestBody =>
  RequestBody.of(context.switchToHttp().getRequest<IncomingMessage>()),
);

/**
 * The body of a request that was let in. What is read of it counts for its token until the answer is out and no work with it is under
 * way any more: that of a sender who left waits in memory for its turn all the same.
 */
export class RequestBody {
  private heldBytes = 0;
  private uses = 0;

  private constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly bodies: RequestBodies,
    private readonly tokenId: string,
  ) {
    if (response.closed) return;
    this.uses = 1;
    whenClosed(response, () => this.end());
  }

  /** Have the body of a request count for a token. */
  static open(request: IncomingMessage, response: ServerResponse, all: RequestBodies, tokenId: string): void {
    bodies.set(request, new RequestBody(request, response, all, tokenId));
  }

  static of(request: IncomingMessage): RequestBody {
    const body = bodies.get(request);
    if (body === undefined) throw new Error('a request passed without a token');
    return body;
  }

  /** Count bytes of it, no matter who reads them. @throws Refusal `rate_limited`. */
  take(bytes: number): void {
    this.bodies.take(this.tokenId, bytes);
    this.heldBytes += bytes;
  }

  /** Count bytes of its answer, which are in memory until they are out. Those of a sender who has left are let go at once. */
  hold(bytes: number): void {
    if (this.uses === 0) return;
    this.bodies.hold(this.tokenId, bytes);
    this.heldBytes += bytes;
  }

  /** Make an answer that may be large, in turn with others of its token. @throws as `RequestBodies` does. */
  answer<T>(work: () => Promise<T>): Promise<T> {
    return this.bodies.answer(this.tokenId, this.whileAwaited(work));
  }

  /** Do something that has it in memory. @throws what `work` throws. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.uses += 1;
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  private end(): void {
    this.uses -= 1;
    if (this.uses > 0) return;
    this.bodies.release(this.tokenId, this.heldBytes);
    this.heldBytes = 0;
  }

  /** Work on it in turn with others of its token: `alone` in the process where it is large. @throws as `RequestBodies` does. */
  inTurn<T>(work: () => Promise<T>, alone = false): Promise<T> {
    const begin = this.whileAwaited(work);
    return alone ? this.bodies.inTurnAlone(this.tokenId, begin) : this.bodies.inTurn(this.tokenId, begin);
  }

  /** Read a graph for its answer, in turn with the other graphs of its token. @throws as `RequestBodies` does. */
  graphInTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.bodies.graphInTurn(this.tokenId, this.whileAwaited(work));
  }

  /** @throws Refusal once nobody waits for the answer any more. */
  private whileAwaited<T>(work: () => Promise<T>): () => Promise<T> {
    return () => {
      if (this.response.closed) throw broken();
      return work();
    };
  }

  /** Read what nobody will look at, slowly. */
  drop(): void {
    dropRest(this.request);
  }

  /**
   * Read all of it. Its declared length counts before it arrives.
   *
   * @throws Refusal `payload_too_large`, `rate_limited`; `invalid_request` where it broke off.
   */
  async read(maxBytes: number): Promise<Buffer> {
    const declared = Number(this.request.headers['content-length'] ?? 0);
    assertWithin(declared, maxBytes);
    this.count(declared);
    const bytes = new GatheredBytes();
    let [size, held] = [0, 0];
    const deadline = setTimeout(() => this.request.destroy(), DEADLINE_MS + declared / LEAST_BYTES_PER_MS);
    try {
      // Left early, the request is not destroyed: its connection is there for the answer.
      for await (const chunk of this.request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += chunk.length;
        assertWithin(size, maxBytes);
        assertFewPieces(this.request);
        held += bytes.add(chunk);
        this.count(size);
        // What they take beside refuses nothing: their sender does not know of it.
        if (held > UNCOUNTED_BYTES && held > this.heldBytes) this.hold(held - this.heldBytes);
      }
    } catch (error) {
      throw error instanceof Refusal ? error : broken();
    } finally {
      clearTimeout(deadline);
    }
    return bytes.whole();
  }

  /** Have so many bytes of it count, where fewer do. */
  private count(bytes: number): void {
    if (bytes > UNCOUNTED_BYTES && bytes > this.heldBytes) this.take(bytes - this.heldBytes);
  }
}

/** @throws Refusal `payload_too_large`. */
function assertWithin(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw new Refusal('payload_too_large', `The body has more than ${maxBytes} bytes, which is the limit here.`);
}

function broken(): Refusal {
  return new Refusal('invalid_request', 'The body broke off.', { status: 400 });
}
