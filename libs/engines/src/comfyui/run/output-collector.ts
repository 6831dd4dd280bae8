import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HELD_BYTES, type EngineFailure, type EngineOutput, type OutputContent } from '../../engine';
import { baseName, MAX_MESSAGE_BYTES, type Fetched, type ServerFile } from '../protocol';
import { reportedItems, type ReportedItem } from './reported-items';
import { type RunFiles, prefixBase } from '../files';
import type { NodeReport } from './run-state';

/** Of pictures that came over the socket and are being written. Only a disk that hangs has so much to write: pictures cost time to make. */
export const MAX_UNWRITTEN_BYTES = 2 * MAX_MESSAGE_BYTES;

/** Why a run's outputs can't be handed over. */
export type CollectFailure =
  /** Another attempt would report alike. */
  | { kind: 'failed'; failure: EngineFailure }
  /** A file that should be there is not: the server was cleaned or restarted in between. */
  | { kind: 'missing'; reason: string };

export interface CollectorOptions {
  runId: string;
  outputDir: string;
  classes: ReadonlyMap<string, string>;
  files: RunFiles;
  /** Nothing is collected any more once it aborts. */
  signal: AbortSignal;
  /** One more than these is collected, which is one too many for the caller: what comes after it is left where it is. */
  maxOutputs: number;
  emit(output: EngineOutput): void;
}

/** Hands over the outputs of one run, one after another, while the run goes on: the first bytes in memory, the rest in the caller's folder. */
export class OutputCollector {
  private tail: Promise<void> = Promise.resolve();
  private readonly counts = new Map<string, number>();
  private readonly temporary: ServerFile[] = [];
  /** Outputs that are still collected. */
  private left: number;
  private collected = 0;
  private heldBytes = 0;
  private unwrittenBytes = 0;
  private failed: CollectFailure | null = null;
  private error: Error | null = null;

  constructor(private readonly options: CollectorOptions) {
    this.left = options.maxOutputs + 1;
  }

  /** Every file of the temporary folder that was reported, collected or not. */
  get temporaryFiles(): readonly ServerFile[] {
    return this.temporary;
  }

  /** Queues what a node reported. */
  take({ nodeId, output }: NodeReport): void {
    const { runId } = this.options;
    for (const item of reportedItems(output, runId)) {
      if (item.kind === 'file' && item.file.type === 'temp') this.temporary.push(item.file);
    }
    this.collectAll(nodeId, () => reportedItems(output, runId));
  }

  /** Queues a picture that came over the socket. It is written at once: what is queued before it may take long to fetch. */
  takePicture(nodeId: string, contentType: string, data: Buffer): void {
    if (this.error !== null || this.left === 0) return;
    this.left -= 1;
    const extension = contentType === 'image/jpeg' ? 'jpg' : 'png';
    const placed = this.place(data, extension);
    this.enqueue(async () => {
      const name = `ComfyUI_${String((this.counts.get(nodeId) ?? 0) + 1).padStart(5, '0')}_.${extension}`;
      this.handOver(nodeId, name, await placed);
    });
    // Also where that is not done any more, because something went wrong: nothing is written once all is done.
    this.tail = Promise.all([this.tail, placed.catch(() => undefined)]).then(() => undefined);
  }

  /** Queues files that a node saved and did not report. */
  takeUnreported(nodeId: string, files: readonly ServerFile[]): void {
    this.collectAll(nodeId, () => files.map((file) => ({ kind: 'file', name: baseName(file.path), file })));
  }

  /**
   * Resolves when everything queued is in place, to what went wrong first.
   *
   * @throws what kept a file from being fetched: the server, the disk, an abort
   */
  async whenDone(): Promise<CollectFailure | null> {
    await this.tail;
    if (this.error !== null) throw this.error;
    return this.failed;
  }

  private collectAll(nodeId: string, items: () => Iterable<ReportedItem>): void {
    this.enqueue(async () => {
      if (this.left === 0) return;
      for (const item of items()) {
        this.options.signal.throwIfAborted();
        this.left -= 1;
        await this.collect(nodeId, item);
        if (this.left === 0) return;
      }
    });
  }

  private enqueue(task: () => Promise<void>): void {
    this.tail = this.tail.then(async () => {
      if (this.error !== null) return;
      await task().catch((error: unknown) => (this.error = error as Error));
    });
  }

  private async collect(nodeId: string, item: ReportedItem): Promise<void> {
    if (item.kind === 'text') return await this.handOverText(nodeId, item);
    if (item.kind === 'foreign') return this.fail({ kind: 'failed', failure: this.foreignFailure(nodeId) });
    const target = { newPath: () => this.newPath(item.name), maxHeldBytes: this.maxHeldBytes };
    const fetched = await this.options.files.fetch(item.file, target, this.options.signal);
    if (typeof fetched === 'object') this.heldBytes += fetched?.length ?? 0;
    if (fetched !== null) return this.handOver(nodeId, item.name, fetched);
    this.fail({ kind: 'missing', reason: `Node ${nodeId} reported a file that is not there.` });
  }

  private get maxHeldBytes(): number {
    return HELD_BYTES - this.heldBytes;
  }

  private handOver(nodeId: string, name: string, fetched: Fetched): void {
    if (typeof fetched === 'string') return this.emit(nodeId, { kind: 'file', name, path: fetched });
    this.emit(nodeId, { kind: 'bytes', name, bytes: fetched });
  }

  private async handOverText(nodeId: string, item: { kind: 'text'; text: string }): Promise<void> {
    const bytes = Buffer.byteLength(item.text);
    if (this.holds(bytes)) return this.emit(nodeId, item);
    this.emit(nodeId, { kind: 'text_file', path: await this.write(item.text, 'txt') });
  }

  /** Where bytes are until they are stored: in memory, or in a file that is being written. */
  private async place(data: Buffer, extension: string): Promise<Fetched> {
    if (this.holds(data.length)) return data;
    if (this.unwrittenBytes + data.length > MAX_UNWRITTEN_BYTES) {
      this.error = Object.assign(new Error('Pictures come faster than the disk takes them.'), { code: 'EIO' });
      throw this.error;
    }
    this.unwrittenBytes += data.length;
    const path = await this.write(data, extension);
    this.unwrittenBytes -= data.length;
    return path;
  }

  /** Whether so many bytes more are handed over in memory; they count from then on. */
  private holds(bytes: number): boolean {
    if (bytes > this.maxHeldBytes) return false;
    this.heldBytes += bytes;
    return true;
  }

  private async write(content: Buffer | string, extension: string): Promise<string> {
    const path = await this.newPath(`made.${extension}`);
    await writeFile(path, content, { flag: 'wx' });
    return path;
  }

  private emit(nodeId: string, content: OutputContent): void {
    const index = this.counts.get(nodeId) ?? 0;
    this.counts.set(nodeId, index + 1);
    this.options.emit({ nodeId, index, ...content });
  }

  private async newPath(name: string): Promise<string> {
    await mkdir(this.options.outputDir, { recursive: true });
    this.collected += 1;
    return join(this.options.outputDir, `${this.collected}-${prefixBase(name)}`);
  }

  private fail(failure: CollectFailure): void {
    this.failed ??= failure;
  }

  private foreignFailure(nodeId: string): EngineFailure {
    return {
      code: 'engine_error',
      message: `Node ${nodeId} reported a file outside the run's own folder, which is not handed out.`,
      nodeId,
      classType: this.options.classes.get(nodeId) ?? null,
      traceback: null,
    };
  }
}
