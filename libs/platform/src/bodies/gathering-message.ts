import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';

/** Smaller pieces of a body are gathered. */
const SMALL_BYTES = 1_024;
/** So many pieces of a message are passed on as they come: most have no more, and pay nothing for this. */
const FEW_PIECES = 16;
const GATHERED_BYTES = 16_384;
/** After so many gathered at once, others have their turn before more is read of the connection. */
const PIECES_AT_A_TIME = 256;

/** More pieces than this must have so many bytes each on average: less than any client sends that means its body to arrive. */
const MOST_TINY_PIECES = 65_536;
const TINY_BYTES = 32;

/** Where small pieces are gathered: with most messages it is free again before the next needs one. */
let spare: Buffer | null = null;

/** As Node's own messages do. */
const pushOn = (message: IncomingMessage, piece: Buffer | null): boolean =>
  IncomingMessage.prototype.push.call(message, piece);

/** The body of a message as it arrives. */
class Arrival {
  pieces = 0;
  bytes = 0;
  private gathered: Buffer | null = null;
  private gatheredBytes = 0;
  private gatheredPieces = 0;

  constructor(private readonly message: IncomingMessage) {}

  /** @returns false where Node is to read no more for now. */
  take(piece: Buffer): boolean {
    this.pieces += 1;
    this.bytes += piece.length;
    if (this.pieces > FEW_PIECES && piece.length < SMALL_BYTES) return this.gather(piece);
    this.passOn();
    return pushOn(this.message, piece);
  }

  private gather(piece: Buffer): boolean {
    if (this.gatheredBytes + piece.length > GATHERED_BYTES) this.passOn();
    if (this.gathered === null) {
      this.gathered = spare ?? Buffer.allocUnsafeSlow(GATHERED_BYTES);
      spare = null;
      setImmediate(() => this.passOn());
    }
    piece.copy(this.gathered, this.gatheredBytes);
    this.gatheredBytes += piece.length;
    this.gatheredPieces += 1;
    // False once: Node stops the connection each time. It reads on when what is passed on has been taken.
    if (this.gatheredPieces === PIECES_AT_A_TIME) return false;
    return this.message.readableLength + this.gatheredBytes < this.message.readableHighWaterMark;
  }

  passOn(): void {
    if (this.gathered === null) return;
    // Not from the pool of small buffers: who keeps these bytes would keep 8 KiB of it.
    const bytes = Buffer.allocUnsafeSlow(this.gatheredBytes);
    this.gathered.copy(bytes, 0, 0, this.gatheredBytes);
    spare = this.gathered;
    this.gathered = null;
    this.gatheredBytes = this.gatheredPieces = 0;
    if (!this.message.destroyed) pushOn(this.message, bytes);
  }
}

/** Called by Node with each piece of the body, and with null at its end. */
function push(this: GatheringMessage, piece: Buffer | null): boolean {
  if (piece !== null) return (this.arrival ??= new Arrival(this)).take(piece);
  this.arrival?.passOn();
  return pushOn(this, null);
}

/**
 * A message whose body arrives in pieces of a fair size, however small its HTTP chunks are: Node passes on each by itself, and the
 * reader of the body would do its work once for each byte that comes in a chunk of its own. Small pieces of one read of the connection are
 * passed on together, in the same turn of the event loop: nothing waits for more to come.
 */
export class GatheringMessage extends IncomingMessage {
  /** Null until some of its body has come. */
  arrival: Arrival | null = null;

  constructor(socket: Socket) {
    super(socket);
    // Its own, as Express gives a message another prototype.
    this.push = push;
  }
}

/** In how many pieces a body has come so far; null where that is not known. */
export function arrivedPiecesOf(body: Readable): number | null {
  return arrivalOf(body)?.pieces ?? null;
}

/**
 * @throws Refusal `invalid_request` where a body comes in many more pieces than its bytes need: each takes the processor about as long as a piece
 * of 1 KiB does.
 */
export function assertFewPieces(body: Readable): void {
  const arrival = arrivalOf(body);
  if (arrival === null || arrival.pieces <= MOST_TINY_PIECES || arrival.bytes >= arrival.pieces * TINY_BYTES) return;
  const message = `The body comes in HTTP chunks of less than ${TINY_BYTES} bytes on average; send it in larger ones.`;
  throw new Refusal('invalid_request', message, { status: 400, headers: { Connection: 'close' } });
}

function arrivalOf(body: Readable): Arrival | null {
  return (body as Partial<GatheringMessage>).arrival ?? null;
}
