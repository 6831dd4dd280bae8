import type { EngineEvent, EngineRunContext } from '../../engine';
import type { ComfyuiBounds } from '../comfyui.config';
import type { SanitisedGraph } from '../graph';
import {
  MAX_TEXT_BYTES,
  readFrame,
  readLargeMessage,
  readMessage,
  type HistoryEntry,
  type ServerMessage,
} from '../protocol';
import type { CancelResult } from './cancel';
import { gpuFaultOf } from './gpu-fault';
import { RunLog } from './run-log';
import { PROCESS_ENDED, type Ending, type RunServer } from './run-outcome';
import { RunOutputs } from './run-outputs';
import { onFrame, onHistory, onMessage } from './run-reducer';
import { initialState, PICTURE_OUTPUT_CLASSES, submittedNode, type Reduction, type RunState } from './run-state';
import { RunWatch } from './run-watch';
import { SocketRecord } from './socket-record';

export interface RunMonitorOptions {
  work: { runId: string; outputDir: string; maxOutputs: number };
  server: RunServer;
  context: EngineRunContext;
  bounds: ComfyuiBounds;
  logTailBytes: number;
  /** Nobody else posts to the server: what it prints from the post on is this run's. */
  isServerOurs: boolean;
  /** Whether the run is to be stopped: one that then is nowhere any more has stopped, and is not lost. */
  isToStop: () => boolean;
}

/**
 * Takes in everything that is said about one run, by socket, process and history: keeps its state, passes events on, and knows
 * what ended it.
 */
export class RunMonitor {
  /** Resolves to what ended the run, once it was posted. */
  readonly ending: Promise<Ending>;
  private readonly log: RunLog;
  private readonly watch: RunWatch;
  private readonly record: SocketRecord;
  private readonly closing = new AbortController();
  private currentState: RunState;
  private currentOutputs: RunOutputs | null = null;
  private driverError: string | null = null;
  /** Of the messages in which nodes reported, in UTF-16 units. */
  private reportedLength = 0;
  private end: (ending: Ending) => void = () => undefined;

  constructor(private readonly options: RunMonitorOptions) {
    const { bounds, isServerOurs, logTailBytes, server, work } = options;
    this.ending = new Promise((resolve) => (this.end = resolve));
    this.currentState = initialState({ promptId: work.runId, classes: new Map() });
    this.watch = new RunWatch(server.client, work.runId, bounds, {
      onEntry: (entry, silentMs) => {
        if (!this.isMoreToCome(silentMs)) this.end({ kind: 'ended', entry });
      },
      onTooLarge: () => this.end(this.hasFailed ? { kind: 'ended', entry: null } : { kind: 'too_large', nodeId: null }),
      onRunning: () => this.apply(onMessage(this.state, { type: 'execution_start', promptId: work.runId })),
      onMute: () => this.reopenSocket(),
      onGone: (reason) => this.end(options.isToStop() ? { kind: 'stopped' } : { kind: 'lost', reason }),
      onLost: (reason, isHung) => this.end({ kind: 'lost', reason, isHung }),
    });
    this.record = new SocketRecord(server.socket, bounds.muteMs);
    this.log = new RunLog(
      {
        onText: (text) => this.emit({ type: 'log', text }),
        onDeadThread: () => this.watch.onDeadThread(),
        onDriverError: (message) => (this.driverError = message),
      },
      { tailBytes: logTailBytes, scrub: server.scrubber.log, beginsAtPost: isServerOurs },
    );
  }

  get state(): RunState {
    return this.currentState;
  }

  /** Null until the graph is known. */
  get outputs(): RunOutputs | null {
    return this.currentOutputs;
  }

  /** Aborts when the run is over for its caller: nothing is emitted from then on. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** The graph that will be posted: from here on messages about its nodes are understood. */
  expect(graph: SanitisedGraph): RunOutputs {
    const { context, server, work } = this.options;
    this.currentState = initialState({ promptId: work.runId, classes: graph.classes });
    this.currentOutputs = new RunOutputs({
      work,
      graph,
      files: server.files,
      signal: AbortSignal.any([context.signal, this.closed]),
      onOutput: (output) => this.emit({ type: 'output', output }),
    });
    return this.currentOutputs;
  }

  /** The graph is about to be posted: what the socket says of the run from here on counts. */
  onPost(): void {
    this.record.onPost();
  }

  /** A text message of the server's socket. */
  onText(text: string): void {
    this.take(readMessage(text), text.length);
  }

  /** A text message of the server's socket that is too large to be parsed. */
  onLargeText(data: Buffer): void {
    this.take(readLargeMessage(data), data.length);
  }

  private take(message: ServerMessage, length: number): void {
    if (message.type === 'logs') return this.log.write(message.text);
    if (isAbout(message, this.options.work.runId)) this.watch.onSign();
    if (message.type === 'executed' && this.isTooMuch(message, length)) return;
    this.note(message);
    this.apply(onMessage(this.state, message));
  }

  /**
   * A message of the server's socket was too large to be received. A picture of a node that only sends its pictures is lost for good. What a
   * node printed need not be known, and what it reported is found in history.
   */
  onTooLarge(): void {
    const nodeId = submittedNode(this.state, this.state.current, null);
    const className = nodeId === null ? undefined : this.state.graph.classes.get(nodeId);
    if (className !== undefined && PICTURE_OUTPUT_CLASSES.has(className)) this.end({ kind: 'too_large', nodeId });
  }

  /** A binary message of the server's socket. */
  onBinary(data: Buffer): void {
    const reduction = onFrame(this.state, readFrame(data));
    if (reduction.signals.length > 0) this.watch.onSign();
    this.apply(reduction);
  }

  /** Output of the server's process. */
  onPrint(text: string): void {
    this.log.write(text);
  }

  /** The server's process is gone. */
  onServerGone(): void {
    const { current: nodeId } = this.state;
    const said = { exceptionType: 'c10.AcceleratorError', message: this.driverError ?? '' };
    const error = { ...said, nodeId, nodeType: null, traceback: [] };
    if (gpuFaultOf(error) === null) return this.end({ kind: 'lost', reason: PROCESS_ENDED });
    this.apply(onMessage(this.state, { type: 'execution_error', promptId: this.options.work.runId, error }));
    this.end({ kind: 'crashed' });
  }

  /** The entry that history has of the run. */
  onEntry(entry: HistoryEntry): void {
    this.apply(onHistory(this.state, entry));
  }

  /** The server has ended the run, which it calls a success. */
  get hasSucceeded(): boolean {
    return this.state.ended && this.state.terminal?.status === 'succeeded';
  }

  /** Its node has said why it failed. */
  get hasFailed(): boolean {
    return this.state.terminal?.status === 'failed';
  }

  /**
   * What a run that succeeded may lack of what the socket alone brings: its pictures, or the message that a node was blocked, which fails it. Null
   * where nothing is missing. Ask once all outputs are taken.
   */
  get missed(): string | null {
    const { outputs, record, state } = this;
    if (outputs?.needsSocket && record.isBroken) return 'The connection broke while pictures came over it.';
    if (outputs?.needsSocket && !record.hasEnded)
      return 'The connection was silent when pictures were to come over it.';
    const silent = this.mayHaveMissedBlock ? (outputs?.silentNode(state.cached) ?? null) : null;
    return silent === null ? null : `Node ${silent} put out nothing, and the connection broke that would say why.`;
  }

  /** A node of it was blocked with a message, or may have been while the socket was away. */
  get mayBeBlocked(): boolean {
    const { blocked, started } = this.state;
    return started && (blocked !== null || this.mayHaveMissedBlock);
  }

  /** What is left to do for the run is quick. */
  onComputed(): void {
    this.emit({ type: 'computed' });
  }

  /** Looks after the run, from its post on. */
  startWatching(): void {
    this.watch.start();
  }

  /** The run was canceled, and has stopped or goes on. */
  onCanceled(result: CancelResult): void {
    this.end({ kind: result === 'stopped' ? 'stopped' : 'ignored' });
  }

  stopWatching(): void {
    this.watch.stop();
  }

  /** Resolves when the log of a run that has started is complete, after `timeoutMs` at the latest. */
  async whenLogEnded(timeoutMs: number): Promise<void> {
    if (this.state.started) await this.log.whenEnded(timeoutMs);
  }

  /** Nothing is emitted any more, and nothing written to the caller's folder, once it resolves. */
  async close(): Promise<void> {
    this.log.close();
    this.watch.stop();
    this.closing.abort();
    await this.outputs?.whenDone().catch(() => undefined);
  }

  private get mayHaveMissedBlock(): boolean {
    return !this.record.hasEnded || this.record.hasGap;
  }

  private note(message: ServerMessage): void {
    const node = message.type === 'executing' ? submittedNode(this.state, message.node, message.displayNode) : null;
    // Without the id of a prompt it is what a socket gets that is opened while one of its own runs.
    const isGreeting = message.type === 'executing' && message.promptId === null;
    if (isGreeting || isAbout(message, this.options.work.runId)) this.record.onMessage(message, node);
  }

  /**
   * History has a run as soon as its nodes are done. What they said may then still be on its way, pictures that wait to be encoded above all,
   * and `executing null` behind that.
   *
   * @param silentMs how long the socket has said nothing of the run since history had it
   */
  private isMoreToCome(silentMs: number): boolean {
    const { picturesMs, pollMs } = this.options.bounds;
    return this.outputs?.needsSocket
      ? !this.record.isBroken && silentMs < picturesMs
      : !this.record.hasGap && silentMs < pollMs;
  }

  /** What a socket misses while it is opened again is found in history, except what comes over the socket alone. */
  private reopenSocket(): void {
    // Such a run keeps a socket that is only silent, as it is for as long as a model loads.
    if (!this.outputs?.needsSocket) this.options.server.socket.reopen();
  }

  /** History repeats all that was reported in one answer, so that the bound of one text is that of all of them. */
  private isTooMuch(message: ServerMessage & { type: 'executed' }, length: number): boolean {
    if (isAbout(message, this.options.work.runId)) this.reportedLength += length;
    if (this.reportedLength <= MAX_TEXT_BYTES) return false;
    const nodeId = length > MAX_TEXT_BYTES ? submittedNode(this.state, message.node, message.displayNode) : null;
    this.end({ kind: 'too_large', nodeId });
    return true;
  }

  private apply({ state, signals }: Reduction): void {
    this.currentState = state;
    for (const signal of signals) {
      if (signal.type === 'reported') this.outputs?.take(signal.report);
      else if (signal.type === 'picture_output') {
        this.outputs?.takePicture(signal.nodeId, signal.contentType, signal.data);
      } else this.emit(signal);
      if (signal.type === 'started') this.log.begin();
    }
    if (state.ended) this.end({ kind: 'ended', entry: null });
  }

  private emit(event: EngineEvent): void {
    if (!this.closed.aborted) this.options.context.onEvent(event);
  }
}

function isAbout(message: ServerMessage, promptId: string): boolean {
  if (message.type === 'progress_state') return message.text.slice(0, 200).includes(promptId);
  return 'promptId' in message && message.promptId === promptId;
}
