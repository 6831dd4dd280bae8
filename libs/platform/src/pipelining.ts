import type { RequestListener, Server } from 'node:http';

/**
 * End a connection on which a request arrives before an earlier one has its answer. Node hands all of them over at once, keeps their
 * answers in memory until their turn, and never reports that an answer was closed whose turn had not come: one connection would
 * take any amount of memory and time, and what such a request holds would stay held. Clients that pipeline must expect that a
 * connection ends, and send again one by one (RFC 9112, 9.3.2).
 *
 * To be called when the server has its listeners of requests.
 */
export function refusePipelining(server: Server): void {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    // It has the connection when its turn has come.
    if (response.socket === null) request.socket.destroy();
    else for (const listener of listeners) listener.call(server, request, response);
  });
}
