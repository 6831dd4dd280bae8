import type { NodeCatalogue } from '@millrace/contracts';
import type { Engine, EngineHealth, EngineResult, EngineRunContext, EngineWork } from '@millrace/engines';
import { CPU_CATALOGUE } from './nodes/registry';
import { RunThread, type RunThreadSettings } from './thread/run-thread';

const MIB = 1024 * 1024;

export interface CpuEngineSettings extends RunThreadSettings {
  /** Milliseconds that a run may take to stop once asked; then its thread is ended. */
  interruptBoundMs: number;
}

const NOT_STARTED = 'The engine has not been started.';

const DEFAULTS: CpuEngineSettings = {
  runBudgetBytes: 1024 * MIB,
  cacheBytes: 256 * MIB,
  heapMib: 512,
  interruptBoundMs: 60,
};

/**
 * Threads that were ended may still be in a call of the codec library, which nothing can break off. Each such call occupies one of
 * the few threads that file access, too, needs in the whole process, so a successor starts beside no more of them than this.
 */
const MAX_ENDING = 1;

/**
 * The embedded engine: node classes of the field's own names and semantics, computed on this machine's processor in a
 * thread of its own. Results of nodes are kept per scope, and lost with the thread.
 *
 * A thread that ends under a run makes it `lost`: pixels are budgeted before they are allocated, so an end of the thread is
 * the machine's fault and another attempt is worth its while.
 */
export class CpuEngine implements Engine {
  readonly kind = 'cpu';
  private readonly settings: CpuEngineSettings;
  /** The thread, or the one that is coming up. */
  private thread: Promise<RunThread> | null = null;
  /** Settles when the runs taken so far have. */
  private queue: Promise<unknown> = Promise.resolve();
  /** Threads that were ended and are not gone yet. */
  private readonly ending = new Set<Promise<void>>();
  private version = 'cpu';
  private problem: string | null = NOT_STARTED;

  constructor(settings: Partial<CpuEngineSettings> = {}) {
    this.settings = { ...DEFAULTS, ...settings };
  }

  async start(): Promise<void> {
    this.thread ??= this.newThread();
    await this.thread;
  }

  catalogue(): Promise<NodeCatalogue> {
    return Promise.resolve(CPU_CATALOGUE);
  }

  run(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    const turn = Promise.race([this.queue, aborted(context.signal)]);
    const result = turn.then(() => this.runNext(work, context));
    this.queue = Promise.all([this.queue, result]);
    return result;
  }

  health(): Promise<EngineHealth> {
    const { problem, version } = this;
    return Promise.resolve({ ready: problem === null, problem, version, residentModels: [] });
  }

  async reset(): Promise<void> {
    await this.endThread('The engine was reset.');
    await this.start();
  }

  async close(): Promise<void> {
    await this.endThread('The engine is closed.');
  }

  private async runNext(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    const { signal } = context;
    const thread = await Promise.race([this.thread?.catch(() => null), aborted(signal)]);
    if (signal.aborted) return { status: 'interrupted' };
    if (!thread) return { status: 'lost', reason: this.problem ?? NOT_STARTED };
    let overdue: NodeJS.Timeout | undefined;
    const interrupt = (): void => {
      thread.interrupt();
      overdue = setTimeout(() => this.retire(thread, 'The run did not stop.'), this.settings.interruptBoundMs);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    const result = await thread.run(work, (event) => context.onEvent(event));
    signal.removeEventListener('abort', interrupt);
    clearTimeout(overdue);
    return result.status === 'lost' && signal.aborted ? { status: 'interrupted' } : result;
  }

  private retire(thread: RunThread, reason: string): void {
    const gone = thread.terminate(reason).finally(() => this.ending.delete(gone));
    this.ending.add(gone);
  }

  private async newThread(): Promise<RunThread> {
    try {
      while (this.ending.size > MAX_ENDING) await Promise.race(this.ending);
      const { thread, version } = await RunThread.start(this.settings);
      this.version = `cpu (${version})`;
      this.problem = null;
      void thread.ended.then((reason) => this.threadEnded(reason));
      return thread;
    } catch (error) {
      this.problem = (error as Error).message;
      this.thread = null;
      throw error;
    }
  }

  /** A thread that ended of itself, or was ended under a run, has a successor at once. */
  private threadEnded(reason: string): void {
    if (!this.thread) return;
    this.problem = reason;
    this.thread = this.newThread();
    this.thread.catch(() => undefined);
  }

  private async endThread(reason: string): Promise<void> {
    const ending = this.thread;
    this.thread = null;
    this.problem = reason;
    const thread = await ending?.catch(() => null);
    await thread?.terminate(reason);
  }
}

/** Settles when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((settle) => signal.addEventListener('abort', () => settle(null), { once: true }));
}
