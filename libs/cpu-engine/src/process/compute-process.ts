import { fork, type ChildProcess } from 'node:child_process';
import { extname, join, resolve } from 'node:path';
import type { EngineEvent, EngineResult, EngineWork } from '@millrace/engines';
import { sliceOf } from '@millrace/workflow';
import { endedUnder, sentenceOf, type ProcessEnd } from './process-end';
import type { ComputeSettings, ProcessMessage, ProcessRequest } from './messages';

/** Milliseconds that a process may take to load its code. */
const START_TIMEOUT_MS = 60_000;

/** A process that runs workflows one after the other, and keeps results of theirs for the next. */
export class ComputeProcess {
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;
  private listener: ((message: ProcessMessage) => void) | null = null;
  /** Settles when no more can come of the process. */
  readonly ended: Promise<ProcessEnd>;
  private end: (end: ProcessEnd) => void = () => undefined;
  /** Settles the run at hand. `ended` outlives all runs: what waits for it is kept as long, with all that it refers to. */
  private breakOff: ((end: ProcessEnd) => void) | null = null;
  private over: ProcessEnd | null = null;

  private constructor(settings: ComputeSettings) {
    this.child = startProcess(settings.heapMib);
    this.ended = new Promise((end) => (this.end = end));
    void this.ended.then((end) => {
      this.over = end;
      this.breakOff?.(end);
    });
    this.child.on('message', (message: ProcessMessage) => {
      if (message.type === 'exhausted') this.end({ kind: 'exhausted', reason: message.reason });
      else this.listener?.(message);
    });
    this.gone = new Promise((gone) => {
      this.child.once('exit', (code, signal) => {
        this.end({ kind: 'exited', code, signal });
        gone();
      });
      // A message does not reach it any more, and it ends or has; or it could not be started, and no exit will be said of it.
      this.child.on('error', (error: NodeJS.ErrnoException) => {
        const { pid } = this.child;
        const how = pid === undefined ? `could not be started: ${error.code}.` : `failed: ${error.message}`;
        this.end({ kind: 'stopped', reason: `The compute process ${how}` });
        if (pid === undefined) gone();
      });
    });
    this.send({ type: 'start', settings });
  }

  /** @throws {Error} with a sentence for an operator when the process does not come up. */
  static async start(settings: ComputeSettings): Promise<{ compute: ComputeProcess; version: string }> {
    const compute = new ComputeProcess(settings);
    let timer: NodeJS.Timeout | undefined;
    const version = await new Promise<string | null>((done) => {
      compute.listener = (message) => message.type === 'ready' && done(message.version);
      void compute.ended.then(() => done(null));
      timer = setTimeout(() => done(null), START_TIMEOUT_MS);
    });
    clearTimeout(timer);
    if (version !== null) return { compute, version };
    await compute.terminate('The compute process did not come up.');
    throw new Error(sentenceOf(await compute.ended));
  }

  /**
   * Run one workflow. If the process ends under it, what ended it decides whether the workflow has `failed` or is `lost`. Not to be
   * called while another one runs.
   */
  async run({ graph, ...work }: EngineWork, onEvent: (event: EngineEvent) => void): Promise<EngineResult> {
    let nodeId: string | null = null;
    const settled = new Promise<EngineResult>((settle) => {
      this.listener = (message) => {
        if (message.type === 'settled') settle(message.result);
        if (message.type !== 'event') return;
        if (message.event.type === 'node_started') ({ nodeId } = message.event);
        if (message.event.type === 'node_finished') nodeId = null;
        onEvent(restored(message.event));
      };
      this.breakOff = (end) => settle(endedUnder(end, graph, nodeId));
      if (this.over !== null) this.breakOff(this.over);
    });
    this.send({ type: 'run', work: { ...work, workflow: sliceOf(graph.root, graph.text) } });
    const result = await settled;
    this.listener = null;
    this.breakOff = null;
    return result;
  }

  /** Ask the run at hand to stop. */
  interrupt(): void {
    this.send({ type: 'interrupt' });
  }

  /** End the process, no matter what it does. Its run settles at once; the promise does when the process is gone. */
  async terminate(reason: string): Promise<void> {
    this.end({ kind: 'stopped', reason });
    this.child.kill('SIGKILL');
    await this.gone;
  }

  /** A process that is gone, or is none, says so by an event, not by a message that does not reach it. */
  private send(message: ProcessRequest): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }
}

/** With nothing of this process's environment: its credentials are not for code that reads strangers' files. */
function startProcess(heapMib: number): ChildProcess {
  const extension = extname(__filename);
  // Holds for each thread of the process, and overrides the limits that a thread is given.
  const limit = `--max-old-space-size=${heapMib}`;
  // From TypeScript source, that is under jest, the process compiles what it loads: tests never run a stale build.
  const compiler = ['--require', resolve(__dirname, '../../../testing/source-thread.cjs')];
  return fork(join(__dirname, `process-entry${extension}`), {
    env: process.env.TZ === undefined ? {} : { TZ: process.env.TZ },
    execArgv: extension === '.js' ? [limit] : [limit, ...compiler],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** A buffer arrives from another process as plain bytes. */
function restored(event: EngineEvent): EngineEvent {
  return event.type === 'preview' ? { ...event, data: Buffer.from(event.data) } : event;
}
