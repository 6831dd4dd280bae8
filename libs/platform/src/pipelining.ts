import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatheringMessage, dropRest } from './bodies';

/** By connection, the answer whose turn it is, or was last. */
const answers = new WeakMap<Duplex, ServerResponse>();
/** Those on which a request waits for that answer. */
const withEarlyRequest = new WeakSet<Duplex>();

/**
 * An HTTP server that serves the requests of a connection one after the other, and ends a connection on which a third arrives before
 * the first has its answer. Node hands all of them over at once, keeps their answers in memory until their turn, and never reports
 * that an answer was closed whose turn had not come: one connection would take any amount of memory and time, and what such a request
 * holds would stay held. Clients that pipeline must expect that a connection ends, and send again one by one (RFC 9112, 9.3.2).
 *
 * One request may be early, and waits until the answer before it has finished: a client that has received every byte that
 * `Content-Length` promised sends its next request, no matter whether we have noticed that this was the end.
 *
 * What arrives of a body after its answer is dropped, slowly and up to a limit (`dropRest`); Node would read it as fast as it comes, for ever.
 *
 * A request with an expectation other than 100-continue comes to the listener as any other, which may refuse it with 417 or not
 * (RFC 9110, 10.1.1).
 *
 * @param options with an `IncomingMessage` of its own only if that is a `SequentialMessage`.
 */
export function createSequentialServer(
  options: ServerOptions<typeof SequentialMessage>,
  listener: RequestListener,
): Server {
  const serve: RequestListener = (request, response) => {
    // Its turn has come when it has the connection; where that has ended it never gets it.
    if (response.socket === null) return;
    answers.set(request.socket, response);
    // Before Node itself reads on.
    response.prependOnceListener('finish', () => {
      if (!request.complete) dropRest(request);
    });
    listener(request, response);
  };
  const inTurn: RequestListener = (request, response) => {
    const { socket } = request;
    const before = response.socket === null ? answers.get(socket) : undefined;
    if (before === undefined) serve(request, response);
    else if (withEarlyRequest.has(socket)) socket.destroy();
    else {
      withEarlyRequest.add(socket);
      before.once('finish', () => {
        withEarlyRequest.delete(socket);
        serve(request, response);
      });
    }
  };
  const server = createServer({ IncomingMessage: SequentialMessage, ...options }, inTurn);
  // Node would not call the listener, but answer each itself: any number of a connection, and of their bodies as fast as they come.
  return server.on('checkExpectation', inTurn);
}

/**
 * End a connection on which something arrived that is no request, where an answer to that would be read as part of another answer, or as the
 * answer to a request that is still to get its own: a request that has arrived whole gets that, and nothing more is read. What has been
 * written of an answer that is complete still goes out.
 *
 * @param socket of a server that `createSequentialServer` made.
 * @returns false where nothing is under way, or what cannot be read is the body of a request without an answer: an error may be answered.
 */
export function endWithinAnswer(socket: Duplex): boolean {
  const answer = answers.get(socket);
  if (answer === undefined) return false;
  const { complete } = answer.req;
  if (complete && !answer.headersSent && !withEarlyRequest.has(socket)) {
    // Node ends the connection after it.
    answer.shouldKeepAlive = false;
    socket.pause();
    return true;
  }
  const isFree = complete ? answer.writableFinished : !answer.headersSent;
  if (isFree && !withEarlyRequest.has(socket)) return false;
  if (answer.writableEnded && socket instanceof Socket) socket.destroySoon();
  else socket.destroy();
  return true;
}

/**
 * A message that stops the parser when its connection has ended: Node parses a whole chunk of 64 KiB, more than a thousand small
 * requests, whether or not anyone is left to answer. After a message that upgrades the protocol it leaves the rest alone.
 */
export class SequentialMessage extends GatheringMessage {
  constructor(socket: Socket) {
    super(socket);
    if (socket.destroyed) Object.defineProperty(this, 'upgrade', { get: () => true, set: () => undefined });
  }
}
