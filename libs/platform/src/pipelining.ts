import { createServer, IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';

/**
 * An HTTP server that ends a connection on which a request arrives before an earlier one has its answer. Node hands all of them over
 * at once, keeps their answers in memory until their turn, and never reports that an answer was closed whose turn had not come: one
 * connection would take any amount of memory and time, and what such a request holds would stay held. Clients that pipeline must
 * expect that a connection ends, and send again one by one (RFC 9112, 9.3.2).
 *
 * @param options with an `IncomingMessage` of its own only if that is a `SequentialMessage`.
 */
export function createSequentialServer(
  options: ServerOptions<typeof SequentialMessage>,
  listener: RequestListener,
): Server {
  return createServer({ IncomingMessage: SequentialMessage, ...options }, (request, response) => {
    // It has the connection when its turn has come.
    if (response.socket === null) request.socket.destroy();
    else listener(request, response);
  });
}

/**
 * A message that stops the parser when its connection has ended: Node parses a whole chunk of 64 KiB, more than a thousand small
 * requests, whether or not anyone is left to answer. After a message that upgrades the protocol it leaves the rest alone.
 */
export class SequentialMessage extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    if (socket.destroyed) Object.defineProperty(this, 'upgrade', { get: () => true, set: () => undefined });
  }
}
