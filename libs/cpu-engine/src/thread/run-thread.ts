import { extname, join, resolve } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { EngineEvent, EngineResult, EngineWork } from '@millrace/engines';
import { sliceOf } from '@millrace/workflow';
import type { RunRequest, ThreadMessage, ThreadSettings } from './thread-messages';

export interface RunThreadSettings {
  runBudgetBytes: number;
  cacheBytes: number;
  /** JavaScript objects of the thread, pixels not among them. */
  heapMib: number;
}

/** Milliseconds that a thread may take to load its code. */
const START_TIMEOUT_MS = 60_000;

/** A worker thread that runs workflows one after the other, and keeps results of theirs for the next. */
export class RunThread {
  private readonly flag: Int32Array;
  private readonly worker: Worker;
  private listener: ((message: ThreadMessage) => void) | null = null;
  /** Settles with the reason when no more can come of the thread, whatever for. */
  readonly ended: Promise<string>;
  private end: (reason: string) => void = () => undefined;

  private constructor({ heapMib, ...settings }: RunThreadSettings) {
    const interrupt = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    this.flag = new Int32Array(interrupt);
    this.worker = startWorker({
      workerData: { ...settings, interrupt } satisfies ThreadSettings,
      resourceLimits: { maxOldGenerationSizeMb: heapMib },
    });
    this.worker.on('message', (message: ThreadMessage) => this.listener?.(message));
    this.ended = new Promise((end) => (this.end = end));
    this.worker.once('error', (error) => this.end(`The compute thread failed: ${error.message}`));
    this.worker.once('exit', (code) => this.end(`The compute thread ended with code ${code}.`));
  }

  /** @throws {Error} with a sentence for an operator when the thread does not come up. */
  static async start(settings: RunThreadSettings): Promise<{ thread: RunThread; version: string }> {
    const thread = new RunThread(settings);
    let timer: NodeJS.Timeout | undefined;
    const version = await new Promise<string | Error>((done) => {
      thread.listener = (message) => message.type === 'ready' && done(message.version);
      void thread.ended.then((reason) => done(new Error(reason)));
      timer = setTimeout(() => done(new Error('The compute thread did not come up in time.')), START_TIMEOUT_MS);
    });
    clearTimeout(timer);
    if (typeof version === 'string') return { thread, version };
    await thread.terminate(version.message);
    throw version;
  }

  /** Run one workflow; `lost` if the thread ends under it. Not to be called while another one runs. */
  async run({ graph, ...work }: EngineWork, onEvent: (event: EngineEvent) => void): Promise<EngineResult> {
    Atomics.store(this.flag, 0, 0);
    const settled = new Promise<EngineResult>((settle) => {
      this.listener = (message) => {
        if (message.type === 'event') onEvent(restored(message.event));
        if (message.type === 'settled') settle(message.result);
      };
    });
    const workflow = sliceOf(graph.root, graph.text);
    this.worker.postMessage({ work: { ...work, workflow } } satisfies RunRequest);
    const lost = this.ended.then((reason): EngineResult => ({ status: 'lost', reason }));
    const result = await Promise.race([settled, lost]);
    this.listener = null;
    return result;
  }

  /** Ask the run at hand to stop. */
  interrupt(): void {
    Atomics.store(this.flag, 0, 1);
  }

  /** End the thread, whatever it does. Its run settles at once; the promise does when the thread is gone. */
  async terminate(reason: string): Promise<void> {
    this.end(reason);
    await this.worker.terminate();
  }
}

/**
 * The compiled engine starts the compiled entry beside it. From TypeScript source, that is under jest, a thread knows
 * neither types nor path aliases; there a starter outside the shipped code compiles the source as the thread loads it, so
 * that tests never run a stale build.
 */
function startWorker(options: WorkerOptions): Worker {
  const entry = join(__dirname, `thread-entry${extname(__filename)}`);
  if (extname(__filename) === '.js') return new Worker(entry, options);
  const starter = resolve(__dirname, '../../../testing/source-thread.cjs');
  const code = `require(${JSON.stringify(starter)}); require(${JSON.stringify(entry)});`;
  return new Worker(code, { ...options, eval: true });
}

/** A buffer arrives from another thread as plain bytes. */
function restored(event: EngineEvent): EngineEvent {
  return event.type === 'preview' ? { ...event, data: Buffer.from(event.data) } : event;
}
