import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { readHistory, type HistoryEntry } from './history';
import { HttpTransport, type Answer, type MultipartFile, type TransportOptions } from './http-transport';
import { parseLenientJson } from './lenient-json';
import { listOf, objectOf, textOf } from './messages';
import type { Fetched, FetchTarget, ServerFile } from './server-file';
import { MAX_TEXT_BYTES, pythonJsonBytes } from './size-bounds';

/** ComfyUI answered, with a status that the request was not made for. */
export class UnexpectedAnswer extends Error {
  constructor(
    request: string,
    readonly status: number,
    text: string,
  ) {
    super(`ComfyUI answered ${request} with ${status}: ${text.slice(0, 300)}`);
  }
}

export interface Queue {
  running: string[];
  pending: string[];
}

export interface SystemStats {
  version: string;
  /** The command line, which names folders. */
  argv: string[];
}

/**
 * ComfyUI's HTTP routes, as verbs. Every method rejects with `Unreachable` when no answer comes, and with `TooLarge` when there is more
 * of it than is read.
 */
export class ComfyuiClient {
  private readonly http: HttpTransport;
  /** Of the prompt that was posted last, as an answer repeats it. */
  private promptBytes = 0;

  constructor(options: TransportOptions) {
    this.http = new HttpTransport(options);
  }

  /** Queues a prompt. Sent once: only the caller knows whether it may be sent again after a lost answer. */
  postPrompt(body: string, timeoutMs: number): Promise<Answer> {
    this.promptBytes = pythonJsonBytes(body);
    return this.http.send({ method: 'POST', path: '/prompt', body, timeoutMs, maxBytes: this.maxSaidBytes });
  }

  /** The entry of a prompt that ended, or null while it has not, or is unknown. */
  async history(promptId: string): Promise<HistoryEntry | null> {
    const path = `/history/${encodeURIComponent(promptId)}`;
    return readHistory(await this.getJson(path, this.maxSaidBytes), promptId);
  }

  async forgetHistory(promptId: string): Promise<void> {
    await this.post('/history', { delete: [promptId] });
  }

  /** Forgets every prompt that has ended. */
  async clearHistory(): Promise<void> {
    await this.post('/history', { clear: true });
  }

  /** Ids of all prompts that run or wait, of any client. */
  async queue(): Promise<Queue> {
    const queue = objectOf(await this.getJson('/queue'));
    return { running: idsOf(queue?.['queue_running']), pending: idsOf(queue?.['queue_pending']) };
  }

  /** Takes a prompt out of the queue; without effect on one that runs. */
  async removeQueued(promptId: string): Promise<void> {
    await this.post('/queue', { delete: [promptId] });
  }

  /** Interrupts a prompt if it runs. Never the general form, which hits any prompt that runs. */
  async interrupt(promptId: string): Promise<void> {
    await this.post('/interrupt', { prompt_id: promptId });
  }

  /** Later versions' cancel, waiting or running. False where the route does not exist. */
  async cancelJob(promptId: string): Promise<boolean> {
    const path = `/api/jobs/${encodeURIComponent(promptId)}/cancel`;
    const { status } = await this.http.sendRepeatably({ method: 'POST', path, body: '{}' });
    return status >= 200 && status < 300;
  }

  /** Drops every cached result and model once the current prompt has ended. */
  async freeMemory(): Promise<void> {
    await this.post('/free', { unload_models: true, free_memory: true });
  }

  /** The text of `/object_info`: numbers in it exceed what a parsed one could hold. */
  async objectInfo(): Promise<string> {
    return await this.getText('/object_info');
  }

  async systemStats(): Promise<SystemStats> {
    const system = objectOf(objectOf(await this.getJson('/system_stats'))?.['system']);
    const argv = listOf(system?.['argv']).filter((argument) => typeof argument === 'string');
    return { version: textOf(system?.['comfyui_version']) ?? 'unknown', argv };
  }

  /** Folders of models and node packs on the server; empty where it does not list them. */
  async modelFolders(): Promise<string[]> {
    const { status, text } = await this.http.sendRepeatably({ method: 'GET', path: '/internal/folder_paths' });
    if (status !== 200) return [];
    return Object.values(objectOf(parseLenientJson(text)) ?? {})
      .flatMap(listOf)
      .filter((path) => typeof path === 'string');
  }

  /** Has the server send its log to the socket of a client. False where it does not offer that. */
  async subscribeToLogs(clientId: string): Promise<boolean> {
    const body = JSON.stringify({ clientId, enabled: true });
    const { status } = await this.http.sendRepeatably({ method: 'PATCH', path: '/internal/logs/subscribe', body });
    return status === 200;
  }

  /** Puts a file below the input folder. Resolves to the path under which nodes find it. */
  async uploadInput(path: string, subfolder: string, name: string): Promise<string> {
    const { size } = await stat(path);
    return await this.upload({ type: 'input', subfolder, name }, size, () => createReadStream(path));
  }

  /** Writes a file into one of the three folders, in the place of one that has its name. */
  async writeFile({ type, path }: ServerFile, bytes: Buffer): Promise<void> {
    const [subfolder, name] = splitPath(path);
    await this.upload({ type, subfolder, name }, bytes.length, () => Readable.from([bytes]));
  }

  private async upload(
    { type, subfolder, name }: { type: ServerFile['type']; subfolder: string; name: string },
    sizeBytes: number,
    content: () => Readable,
  ): Promise<string> {
    const boundary = `millrace-${randomUUID()}`;
    const file = { content, sizeBytes, ...multipart(boundary, name, { type, overwrite: 'true', subfolder }) };
    const answer = await this.http.sendFile('/upload/image', `multipart/form-data; boundary=${boundary}`, file);
    const stored = objectOf(expectOk('POST /upload/image', answer));
    const storedName = textOf(stored?.['name']) ?? name;
    const storedIn = textOf(stored?.['subfolder']) ?? subfolder;
    return storedIn === '' ? storedName : `${storedIn}/${storedName}`;
  }

  /** Fetches a file of the server; null when it is not there. */
  async download({ type, path }: ServerFile, target: FetchTarget, signal: AbortSignal): Promise<Fetched | null> {
    const [subfolder, filename] = splitPath(path);
    const query = new URLSearchParams({ filename, subfolder, type });
    const { status, body } = await this.http.receiveBody(`/view?${query.toString()}`, target, signal);
    if (status !== 200 && status !== 404) throw new UnexpectedAnswer('GET /view', status, '');
    return body;
  }

  close(): void {
    this.http.close();
  }

  /** Of an answer that nodes can fill. */
  private get maxSaidBytes(): number {
    return MAX_TEXT_BYTES + this.promptBytes;
  }

  private async getText(path: string, maxBytes?: number): Promise<string> {
    const { status, text } = await this.http.sendRepeatably({ method: 'GET', path, ...(maxBytes && { maxBytes }) });
    if (status !== 200) throw new UnexpectedAnswer(`GET ${path}`, status, text);
    return text;
  }

  private async getJson(path: string, maxBytes?: number): Promise<unknown> {
    return parseLenientJson(await this.getText(path, maxBytes));
  }

  private async post(path: string, body: unknown): Promise<void> {
    const answer = await this.http.sendRepeatably({ method: 'POST', path, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new UnexpectedAnswer(`POST ${path}`, answer.status, answer.text);
  }
}

function expectOk(request: string, { status, text }: Answer): unknown {
  if (status !== 200) throw new UnexpectedAnswer(request, status, text);
  return parseLenientJson(text);
}

/** Items are `[number, prompt id, graph, extra data, outputs]`. */
function idsOf(items: unknown): string[] {
  return listOf(items).flatMap((item) => textOf(listOf(item)[1]) ?? []);
}

/** Folder and name of a path with `/`. */
function splitPath(path: string): [folder: string, name: string] {
  const cut = path.lastIndexOf('/');
  return [path.slice(0, Math.max(cut, 0)), path.slice(cut + 1)];
}

/** RFC 7578. Names and values are of our own making: nothing to escape. */
function multipart(
  boundary: string,
  name: string,
  fields: Record<string, string>,
): Pick<MultipartFile, 'head' | 'tail'> {
  const part = (disposition: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}`;
  const texts = Object.entries(fields).map(([field, value]) => `${part(`name="${field}"`)}\r\n\r\n${value}\r\n`);
  const opening = `${part(`name="image"; filename="${name}"`)}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return {
    head: Buffer.from(texts.join('') + opening),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}
