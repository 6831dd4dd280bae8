import { Server as TcpServer } from 'node:net';
import type { Server, ServerResponse } from 'node:http';
import type { OpenStreams } from './open-streams';

type Streams = Pick<OpenStreams, 'allEnded' | 'endAll'>;

/** Connections that are kept open get this long to be left by their clients, who learn of it from their next answer. */
const LEAVE_MS = 2_000;
/** Requests that were being answered when the streams had gone get this long; then their connections are cut. */
const FINISH_MS = 5_000;

/**
 * Close the public listener in order: no new connections, answers under way go out, streams stay open for `drainMs` (a
 * client whose stream ends early comes back many times a second), then everything that is left is cut.
 *
 * A connection that is kept open is not closed between two requests of a busy client, which may be sending one at that moment
 * and could not know whether it was served: every answer from now on says `Connection: close` (RFC 9112, 9.6), and only what
 * is idle two seconds later, `drainMs` at most, is closed.
 */
export async function drainPublic(server: Server, streams: Streams, drainMs: number): Promise<void> {
  server.prependListener('request', (_request, response: ServerResponse) => (response.shouldKeepAlive = false));
  // That of HTTP would close idle connections at once.
  const closed = new Promise<void>((resolve) => void TcpServer.prototype.close.call(server, () => resolve()));
  await Promise.race([closed, Promise.all([after(Math.min(drainMs, LEAVE_MS)), endedWithin(streams, drainMs)])]);
  streams.endAll();
  // Besides, the timers of its connections end.
  server.close();
  await Promise.race([closed, after(FINISH_MS)]);
  server.closeAllConnections();
}

async function endedWithin(streams: Streams, drainMs: number): Promise<void> {
  await Promise.race([streams.allEnded(), after(drainMs)]);
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
