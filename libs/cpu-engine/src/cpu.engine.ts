import type { NodeCatalogue } from '@millrace/contracts';
import {
  observed,
  type Engine,
  type EngineHealth,
  type EngineResult,
  type EngineRunContext,
  type EngineWork,
} from '@millrace/engines';
import { CPU_CATALOGUE } from './nodes/registry';
import { ComputeProcess } from './process/compute-process';
import type { ComputeSettings } from './process/messages';

const MIB = 1024 * 1024;

export interface CpuEngineSettings extends ComputeSettings {
  /** Milliseconds that a run may take to stop once asked; then its process is ended. */
  interruptBoundMs: number;
  /** Runs after which a process gets a successor: what a codec library does not free does not add up. */
  runsPerProcess: number;
}

/** Why a listener is taken off, which nobody reads: an abort without a reason makes an error with a stack, for each run. */
const SETTLED = 'settled';
const NOT_STARTED = 'The engine has not been started.';

const DEFAULTS: CpuEngineSettings = {
  runBudgetBytes: 1024 * MIB,
  cacheBytes: 256 * MIB,
  heapMib: 512,
  // Pixels and results at their bounds, and what code and codecs take; less than the 2 GiB that the chart gives a worker.
  residentBytes: 1664 * MIB,
  interruptBoundMs: 60,
  // A process grows by some 8 KiB with each run that writes a picture; its start takes half a second of processor time.
  runsPerProcess: 10_000,
};

/**
 * The embedded engine: node classes of the field's own names and semantics, computed on this machine's processor in a
 * process of its own. Results of nodes are kept per scope, and lost with the process.
 *
 * A process that a node ends makes its run `failed`; one that ends for another reason makes it `lost`.
 */
export class CpuEngine implements Engine {
  readonly kind = 'cpu';
  private readonly settings: CpuEngineSettings;
  /** The process, or the one that is coming up. */
  private compute: Promise<ComputeProcess> | null = null;
  /** Settles when the runs taken so far have. */
  private queue: Promise<unknown> = Promise.resolve();
  private isOpen = false;
  private runs = 0;
  private version = 'cpu';
  private problem: string | null = NOT_STARTED;

  constructor(settings: Partial<CpuEngineSettings> = {}) {
    this.settings = { ...DEFAULTS, ...settings };
  }

  async start(): Promise<void> {
    this.isOpen = true;
    this.compute ??= this.newProcess();
    await this.compute;
  }

  catalogue(): Promise<NodeCatalogue> {
    return Promise.resolve(CPU_CATALOGUE);
  }

  run(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    const over = new AbortController();
    const turn = Promise.race([this.queue, aborted(context.signal, over.signal)]);
    const result = turn
      .then(() => observed(context, (guarded) => this.runNext(work, guarded)))
      .finally(() => over.abort(SETTLED));
    this.queue = Promise.all([this.queue, result]).then(() => undefined);
    return result;
  }

  health(): Promise<EngineHealth> {
    // A process that did not come up is tried again when somebody asks.
    if (this.compute === null) this.succeed();
    const { problem, version } = this;
    return Promise.resolve({ ready: problem === null, problem, version, residentModels: [] });
  }

  async reset(): Promise<void> {
    await this.endProcess('The engine was reset.');
    await this.start();
  }

  async close(): Promise<void> {
    await this.endProcess('The engine is closed.');
  }

  private async runNext(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    const { signal } = context;
    const up = new AbortController();
    const compute = await Promise.race([this.compute?.catch(() => null), aborted(signal, up.signal)]);
    up.abort(SETTLED);
    if (signal.aborted) return { status: 'interrupted' };
    if (!compute) return { status: 'lost', reason: this.problem ?? NOT_STARTED };
    let overdue: NodeJS.Timeout | undefined;
    const interrupt = (): void => {
      compute.interrupt();
      overdue = setTimeout(() => void compute.terminate('The run did not stop.'), this.settings.interruptBoundMs);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    const result = await compute.run(work, (event) => context.onEvent(event));
    signal.removeEventListener('abort', interrupt);
    clearTimeout(overdue);
    this.countRun(compute);
    return result.status === 'lost' && signal.aborted ? { status: 'interrupted' } : result;
  }

  private countRun(compute: ComputeProcess): void {
    this.runs += 1;
    if (this.runs >= this.settings.runsPerProcess) void compute.terminate('It has run its share.');
  }

  private async newProcess(): Promise<ComputeProcess> {
    try {
      this.runs = 0;
      const { compute, version } = await ComputeProcess.start(this.settings);
      this.version = `cpu (${version})`;
      this.problem = null;
      void compute.ended.then(() => this.succeed());
      return compute;
    } catch (error) {
      this.problem = (error as Error).message;
      this.compute = null;
      throw error;
    }
  }

  /** A process that has ended, no matter what ended it, has a successor at once; the next run waits for it. */
  private succeed(): void {
    if (!this.isOpen) return;
    this.compute = this.newProcess();
    this.compute.catch(() => undefined);
  }

  private async endProcess(reason: string): Promise<void> {
    const ending = this.compute;
    this.isOpen = false;
    this.compute = null;
    this.problem = reason;
    const compute = await ending?.catch(() => null);
    await compute?.terminate(reason);
  }
}

/** Settles when the signal is aborted, unless `over` is before: a signal keeps its listeners as long as what it follows. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((settle) => signal.addEventListener('abort', () => settle(null), { once: true, signal: over }));
}
