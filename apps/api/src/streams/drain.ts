import type { Server } from 'node:http';
import type { OpenStreams } from './open-streams';

/** Requests that were being answered when the streams had gone get this long; then their connections are cut. */
const FINISH_MS = 5_000;

/**
 * Close the public listener in order: no new connections, answers under way go out, streams stay open for `drainMs` (a
 * client whose stream ends early comes back many times a second), then everything that is left is cut.
 */
export async function drainPublic(server: Server, streams: OpenStreams, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await Promise.race([streams.allEnded(), after(drainMs)]);
  streams.endAll();
  server.closeIdleConnections();
  await Promise.race([closed, after(FINISH_MS)]);
  server.closeAllConnections();
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
