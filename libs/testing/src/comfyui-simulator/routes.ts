import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PostedGraph } from './nodes/graph';
import { itemOf } from './execution/prompt-queue';
import { toPythonJson } from './io/python-json';
import type { FolderType } from './io/server-folders';
import type { ServerParts } from './server-parts';
import { readUpload } from './io/upload';
import { validate } from './execution/validation';

const CANONICAL_UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const SERVER_ERROR = '500 Internal Server Error\n\nServer got itself in trouble';

interface PromptBody {
  prompt?: PostedGraph;
  prompt_id?: string;
  client_id?: string;
  number?: number;
  extra_data?: Record<string, unknown>;
}

type Route = (server: ServerParts, exchange: Exchange) => Promise<void> | void;

/** One request with its answer. */
export class Exchange {
  readonly url: URL;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {
    this.url = new URL(request.url ?? '/', 'http://localhost');
  }

  async body(): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  }

  json(value: unknown, status = 200): void {
    this.text(toPythonJson(value), status, 'application/json');
  }

  text(text: string, status = 200, type = 'text/plain'): void {
    this.response.writeHead(status, { 'content-type': type }).end(text);
  }
}

const ROUTES: Readonly<Record<string, Route>> = {
  'GET /prompt': (server, exchange) => exchange.json({ exec_info: { queue_remaining: server.queue.remaining } }),
  'POST /prompt': postPrompt,
  'GET /queue': ({ queue }, exchange) => {
    const running = queue.running ? [itemOf(queue.running)] : [];
    exchange.json({ queue_running: running, queue_pending: queue.pending.map(itemOf) });
  },
  'POST /queue': async (server, exchange) => {
    const { delete: ids = [] } = JSON.parse(await exchange.body()) as { delete?: string[] };
    for (const id of ids) if (server.queue.remove(id)) server.announce();
    exchange.text('');
  },
  'POST /interrupt': async (server, exchange) => {
    const { prompt_id } = JSON.parse(await exchange.body()) as { prompt_id?: string };
    server.interrupts.push(prompt_id ?? null);
    if (prompt_id === undefined || server.queue.running?.promptId === prompt_id) server.raiseInterrupt();
    server.changed();
    exchange.text('');
  },
  'POST /free': async (server, exchange) => {
    const { free_memory } = JSON.parse(await exchange.body()) as { free_memory?: boolean };
    if (free_memory) server.freeMemory();
    exchange.text('');
  },
  'POST /history': async ({ queue }, exchange) => {
    const { clear, delete: ids = [] } = JSON.parse(await exchange.body()) as { clear?: boolean; delete?: string[] };
    if (clear) queue.history.clear();
    for (const id of ids) queue.history.delete(id);
    exchange.text('');
  },
  'GET /object_info': (server, exchange) => exchange.text(server.objectInfo, 200, 'application/json'),
  'GET /system_stats': (server, exchange) =>
    exchange.json({ system: { os: 'posix', comfyui_version: server.version, argv: server.argv }, devices: [] }),
  'GET /internal/folder_paths': (_server, exchange) =>
    exchange.json({ checkpoints: ['/srv/comfyui/models/checkpoints'], custom_nodes: ['/srv/comfyui/custom_nodes'] }),
  'GET /internal/logs/raw': ({ log }, exchange) => exchange.json({ entries: log.entries, size: null }),
  'PATCH /internal/logs/subscribe': async ({ sockets }, exchange) => {
    const { clientId, enabled } = JSON.parse(await exchange.body()) as { clientId: string; enabled: boolean };
    sockets.readLog(clientId, enabled);
    exchange.text('');
  },
  'POST /upload/image': async ({ folders }, exchange) => {
    const { fields, file } = await readUpload(exchange.request);
    if (!file) return exchange.text('', 400);
    const overwrite = fields['overwrite'] === 'true' || fields['overwrite'] === '1';
    const type = (fields['type'] ?? 'input') as FolderType;
    const stored = folders.store(type, fields['subfolder'] ?? '', file.name, overwrite, file.bytes);
    if (!stored) return exchange.text('', 400);
    exchange.json({ name: stored.filename, subfolder: stored.subfolder, type: stored.type });
  },
  'GET /view': ({ folders }, { url, response }) => {
    const query = url.searchParams;
    const type = (query.get('type') ?? 'output') as FolderType;
    const path = folders.inside(type, query.get('subfolder') ?? '')
      ? folders.find(type, query.get('subfolder') ?? '', query.get('filename') ?? '')
      : null;
    if (path === null) return void response.writeHead(404).end();
    const headers = { 'content-type': 'application/octet-stream', 'content-length': statSync(path).size };
    createReadStream(path).pipe(response.writeHead(200, headers));
  },
};

export async function answer(server: ServerParts, exchange: Exchange): Promise<void> {
  const { request, url } = exchange;
  const route = ROUTES[`${request.method} ${url.pathname}`];
  const byId = /^\/history\/([^/]+)$/.exec(url.pathname)?.[1];
  const job = /^\/api\/jobs\/([^/]+)\/cancel$/.exec(url.pathname)?.[1];
  try {
    if (route) await route(server, exchange);
    else if (byId && request.method === 'GET') historyOf(server, exchange, decodeURIComponent(byId));
    else if (job && server.version !== '0.3.64') cancelJob(server, exchange, job);
    else exchange.text('404: Not Found', 404);
  } catch {
    exchange.text(SERVER_ERROR, 500);
  }
}

function historyOf({ queue }: ServerParts, exchange: Exchange, promptId: string): void {
  const entry = queue.history.get(promptId);
  exchange.json(entry ? { [promptId]: entry } : {});
}

function cancelJob(server: ServerParts, exchange: Exchange, promptId: string): void {
  server.jobCancels.push(promptId);
  const isRunning = server.queue.running?.promptId === promptId;
  if (isRunning) server.raiseInterrupt();
  server.changed();
  exchange.json({ cancelled: server.queue.remove(promptId) || isRunning });
}

async function postPrompt(server: ServerParts, exchange: Exchange): Promise<void> {
  const text = await exchange.body();
  server.log.log('got prompt\n');
  const { prompt, prompt_id, client_id, number, extra_data = {} } = parsePosted(text);
  if (!prompt) return exchange.json({ error: { type: 'no_prompt' }, node_errors: {} }, 400);
  const isLater = server.version !== '0.3.64';
  if (isLater && prompt_id !== undefined && !CANONICAL_UUID.test(prompt_id))
    return exchange.json({ error: { type: 'invalid_prompt_id' }, node_errors: {} }, 400);
  const validation = validate(prompt, server.classes, (name) => server.folders.hasInput(name), isLater);
  if ('error' in validation) {
    return exchange.json({ error: validation.error, node_errors: validation.nodeErrors }, 400);
  }
  const promptId = prompt_id ?? `${server.nextNumber()}`;
  const queued = { number: number ?? server.nextNumber(), promptId, graph: prompt, extraData: extra_data };
  server.posted.push({ promptId, text });
  server.queue.put({ ...queued, outputs: validation.outputs, clientId: client_id ?? null });
  server.announce();
  server.changed();
  exchange.json({ prompt_id: promptId, number: queued.number, node_errors: validation.nodeErrors });
}

/** Whole numbers beyond a double's are kept as their digits: enough to show that they came through. */
function parsePosted(text: string): PromptBody {
  return JSON.parse(text.replace(/(?<=[:,[]\s*)-?\d{16,}(?=\s*[,\]}])/g, '"$&"')) as PromptBody;
}
