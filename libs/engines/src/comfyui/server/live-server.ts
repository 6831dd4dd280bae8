import { randomUUID } from 'node:crypto';
import { dirname, isAbsolute } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ComfyuiBounds } from '../comfyui.config';
import { ComfyuiClient, type SystemStats, ComfyuiSocket, type SocketListener } from '../protocol';
import { FolderRunFiles, HttpRunFiles, type RunFiles } from '../files';
import type { HostedServer } from './server-host';

/** A server that has answered, with a socket that is kept open. */
export interface LiveServer {
  client: ComfyuiClient;
  socket: ComfyuiSocket;
  files: RunFiles;
  version: string;
  /** Folders of its machine that no text may name. */
  roots: string[];
  /** It runs with `--disable-metadata`: saved files don't hold the graph. */
  hidesGraphs: boolean;
  /** Resolves when its log is being sent, where that was asked for. */
  subscribed: Promise<unknown>;
}

export interface ServerListener extends SocketListener {
  onNotice(notice: string): void;
}

const PROBE_EVERY_MS = 200;

/** The server does not come up. The message is for an operator. */
export class StartFailure extends Error {}

/**
 * Waits until a server answers, and opens its socket.
 *
 * @param wantsLog have its log sent over the socket, where no process of ours is there to be read
 * @throws {StartFailure} when it ends first, or does not answer within `startMs`
 */
export async function connectTo(
  hosted: HostedServer,
  bounds: ComfyuiBounds,
  listener: ServerListener,
  wantsLog: boolean,
  signal: AbortSignal,
): Promise<LiveServer> {
  const { url, headers, folders } = hosted;
  const client = new ComfyuiClient({ url, headers, timeoutMs: bounds.requestMs });
  const sayQuiet = (): void => {
    const cure = 'start it there, or correct the address';
    listener.onNotice(`ComfyUI at ${url} has not answered for ${bounds.quietMs} ms, and is waited for: ${cure}.`);
  };
  // A process of ours is quiet while it imports its node packs, and its end is noticed.
  const quiet = wantsLog ? setTimeout(sayQuiet, bounds.quietMs) : undefined;
  try {
    const stats = await firstAnswer(client, hosted, bounds.startMs, signal).finally(() => clearTimeout(quiet));
    const roots = [...hosted.roots, ...rootsOf(stats), ...(await modelRoots(client))];
    const files = folders ? new FolderRunFiles(folders) : new HttpRunFiles(client);
    return {
      client,
      files,
      version: stats.version,
      hidesGraphs: stats.argv.includes('--disable-metadata'),
      roots,
      ...openSocket(client, hosted, bounds, listener, wantsLog),
    };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** A socket under a client id of its own: messages of an earlier run go to the id that posted it. */
export function openSocket(
  client: ComfyuiClient,
  { url, headers }: HostedServer,
  { connectMs, pingMs, reconnectPauseMs: pauseMs }: ComfyuiBounds,
  listener: SocketListener,
  wantsLog: boolean,
): Pick<LiveServer, 'socket' | 'subscribed'> {
  const clientId = randomUUID();
  // A server without that route runs all the same, and its runs have no log.
  const subscribe = (): Promise<unknown> => client.subscribeToLogs(clientId).catch(() => false);
  let firstOpened: (value: unknown) => void = () => undefined;
  const subscribed = wantsLog ? new Promise<unknown>((resolve) => (firstOpened = resolve)) : Promise.resolve();
  const onOpen = (): void => {
    if (wantsLog) firstOpened(subscribe());
    listener.onOpen();
  };
  return {
    socket: new ComfyuiSocket({ url, clientId, headers, connectMs, pingMs, pauseMs }, { ...listener, onOpen }),
    subscribed,
  };
}

async function firstAnswer(
  client: ComfyuiClient,
  { gone, url }: HostedServer,
  startMs: number,
  signal: AbortSignal,
): Promise<SystemStats> {
  const deadlineMs = performance.now() + startMs;
  let lastWords: string | null = null;
  void gone.then((words) => (lastWords = words));
  for (;;) {
    const failure = await unless(signal, () => client.systemStats()).catch((error: unknown) => error);
    if (!(failure instanceof Error)) return failure as SystemStats;
    if (lastWords !== null) throw new StartFailure(`ComfyUI ended as it started. Its last words: ${String(lastWords)}`);
    if (signal.aborted) throw new StartFailure('The engine was closed before ComfyUI answered.');
    if (performance.now() >= deadlineMs) {
      throw new StartFailure(`ComfyUI at ${url} has not answered within ${startMs} ms: ${failure.message}`);
    }
    await delay(PROBE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * The result of a request, unless the signal aborts first: a server that hangs takes a request and leaves it unanswered.
 *
 * @throws the reason of the signal
 */
async function unless<T>(signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => (abort = () => reject(signal.reason as Error)));
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([request(), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function rootsOf({ argv }: SystemStats): string[] {
  return argv.filter(isAbsolute).flatMap((path) => (/\.\w+$/.test(path) ? dirname(path) : path));
}

/** Folders of models, and the one above: ComfyUI's own. */
async function modelRoots(client: ComfyuiClient): Promise<string[]> {
  const folders = await client.modelFolders().catch(() => []);
  return folders.flatMap((folder) => (/[\\/]custom_nodes$/.test(folder) ? [dirname(folder), folder] : [folder]));
}
