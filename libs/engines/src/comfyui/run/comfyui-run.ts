import type { NodeCatalogue } from '@millrace/contracts';
import type { EngineEvent, EngineFailure, EngineResult, EngineRunContext, EngineWork } from '../../engine';
import { cancelRun } from './cancel';
import type { ComfyuiBounds } from '../comfyui.config';
import type { ComfyuiClient } from '../protocol/comfyui.client';
import type { ComfyuiSocket } from '../protocol/comfyui.socket';
import { readFrame } from '../protocol/frames';
import type { HistoryEntry } from '../protocol/history';
import { readMessage, type ServerMessage } from '../protocol/messages';
import { OutputCollector } from './output-collector';
import { mapExtraData, postPrompt } from '../protocol/post-prompt';
import { InputUnavailable, type RunFiles } from '../files/run-files';
import { RunLog } from './run-log';
import { runFolder, stagedName } from '../files/run-paths';
import {
  initialState,
  onFrame,
  onHistory,
  onMessage,
  PICTURE_OUTPUT_CLASSES,
  type Reduction,
  type RunState,
} from './run-state';
import { RunWatch } from './run-watch';
import { GraphRefusal, sanitiseGraph, type GraphLimits, type SanitisedGraph } from '../graph/sanitise-graph';
import type { Scrubber } from './scrub';
import { verdictOf } from './verdict';

/** A server that answers, and the ways to it. */
export interface RunServer {
  client: ComfyuiClient;
  socket: ComfyuiSocket;
  files: RunFiles;
  scrubber: Scrubber;
}

export interface RunSettings {
  catalogue: NodeCatalogue;
  reportingClasses: ReadonlySet<string>;
  limits: GraphLimits;
  bounds: ComfyuiBounds;
  logTailBytes: number;
  previewMethod: string;
  /** Nobody else posts to the server: what it prints from the post on is this run's. */
  isServerOurs: boolean;
}

export interface RunOutcome {
  result: EngineResult;
  /** The server still has the run, or may: it must not be given another before it was replaced or looked at. */
  isStuck: boolean;
  /** How far the run came; null when it was never posted. */
  trace: { graph: SanitisedGraph; state: RunState; reportedBy: ReadonlySet<string> } | null;
}

/** What ended the wait for a posted run. */
type Ending =
  | { kind: 'ended'; entry: HistoryEntry | null }
  | { kind: 'stopped' }
  | { kind: 'ignored' }
  | { kind: 'lost'; reason: string };

const RESET = 'The engine was reset during the run.';

/** One run of one workflow on a server, from its graph to its outputs. Used once. */
export class ComfyuiRun {
  private state: RunState;
  private graph: SanitisedGraph | null = null;
  /** Nodes, and classes, that have reported. */
  private readonly reportedNodes = new Set<string>();
  private readonly reportedBy = new Set<string>();
  /** Nodes whose beginning the socket told. */
  private readonly heardNodes = new Set<string>();
  private readonly log: RunLog;
  private readonly watch: RunWatch;
  private collector: OutputCollector | null = null;
  private readonly over = new AbortController();
  private readonly givingUp = new AbortController();
  private finish: (ending: Ending) => void = () => undefined;
  private readonly ending = new Promise<Ending>((resolve) => (this.finish = resolve));

  constructor(
    private readonly server: RunServer,
    private readonly settings: RunSettings,
    private readonly work: EngineWork,
    private readonly context: EngineRunContext,
  ) {
    const { bounds, logTailBytes } = settings;
    this.state = initialState({ promptId: work.runId, classes: new Map() });
    this.watch = new RunWatch(server.client, work.runId, bounds, {
      onEntry: (entry) => this.finish({ kind: 'ended', entry }),
      onRunning: () => this.apply(onMessage(this.state, { type: 'execution_start', promptId: work.runId })),
      onMute: () => this.reopenSocket(),
      // What was to be stopped and is nowhere any more has stopped.
      onGone: (reason) => this.finish(this.isToStop() ? { kind: 'stopped' } : { kind: 'lost', reason }),
      onLost: (reason) => this.finish({ kind: 'lost', reason }),
    });
    this.log = new RunLog(
      { onText: (text) => this.emit({ type: 'log', text }), onDeadThread: () => this.watch.onDeadThread() },
      { tailBytes: logTailBytes, scrub: server.scrubber.log, beginsAtPost: settings.isServerOurs },
    );
  }

  /** Never rejects. */
  async execute(): Promise<RunOutcome> {
    const outcome = await this.attempt().catch((error: unknown) => this.outcomeOf(error));
    this.log.close();
    this.watch.stop();
    this.over.abort();
    // Nothing is written to the caller's folder from here on.
    await this.collector?.whenDone().catch(() => undefined);
    return outcome;
  }

  /** A text message of the server's socket. */
  onText(text: string): void {
    const message = readMessage(text);
    if (message.type === 'logs') return this.log.write(message.text);
    if (isAbout(message, this.work.runId)) this.watch.onSign();
    if (message.type === 'executing' && message.node !== null) this.heardNodes.add(message.node);
    this.apply(onMessage(this.state, message));
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
    this.finish({ kind: 'lost', reason: 'The ComfyUI process ended during the run.' });
  }

  /** Ends it on the server as a stop does, and as lost: it was not asked for by whoever wants its result. */
  giveUp(): void {
    this.givingUp.abort();
  }

  /** Removes what the run left on the server, as far as it can be reached. */
  async clean(): Promise<void> {
    const temporary = this.collector?.files.filter(({ type }) => type === 'temp') ?? [];
    await this.server.files.clean(this.work.runId, temporary);
  }

  private async attempt(): Promise<RunOutcome> {
    const { work, context, settings } = this;
    const staged = new Map(
      work.inputs.map(({ name }, at) => [name, `${runFolder(work.runId)}/${stagedName(at + 1, name)}`]),
    );
    const { catalogue, limits, reportingClasses } = settings;
    const graph = sanitiseGraph({ ...work, staged, catalogue, limits, reportingClasses });
    this.graph = graph;
    this.state = initialState({ promptId: work.runId, classes: graph.classes });
    this.collector = this.createCollector(graph);
    for (const { name, path } of work.inputs) {
      if (!context.signal.aborted) await this.server.files.stage(path, staged.get(name) ?? name);
    }
    if (context.signal.aborted) return this.outcome({ status: 'interrupted' });
    if (this.givingUp.signal.aborted) return this.lost(RESET);
    return await this.post(graph);
  }

  private async post(graph: SanitisedGraph): Promise<RunOutcome> {
    const { client, socket, scrubber } = this.server;
    const { bounds } = this.settings;
    const lossesBefore = socket.lossCount;
    const prompt = { promptId: this.work.runId, clientId: socket.clientId, graph: graph.text };
    const extraData = { ...mapExtraData(this.work.extraData), preview_method: this.settings.previewMethod };
    const posted = await postPrompt(client, { ...prompt, extraData }, graph.classes, bounds.postMs);
    if (posted.status === 'lost') return this.outcome(posted, true);
    if (posted.status === 'refused') return this.failed(scrubbed(posted.failure, scrubber));
    if (posted.status === 'partly_accepted') {
      const canceled = await this.cancel();
      return this.outcome({ status: 'failed', failure: scrubbed(posted.failure, scrubber) }, canceled === 'ignored');
    }
    const ending = await this.whenOver();
    return await this.conclude(ending, graph, () => socket.lossCount !== lossesBefore);
  }

  private async whenOver(): Promise<Ending> {
    const signal = AbortSignal.any([this.context.signal, this.givingUp.signal]);
    const onAbort = (): void => void this.cancel().then((kind) => this.finish({ kind }));
    this.watch.start();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const ending = await this.ending;
    signal.removeEventListener('abort', onAbort);
    this.watch.stop();
    return ending;
  }

  private isToStop(): boolean {
    return this.context.signal.aborted || this.givingUp.signal.aborted;
  }

  /**
   * What a socket misses while it is opened anew is found in history, except pictures that are sent and not saved: such a
   * run keeps a socket that only is silent, as it is for as long as a model loads.
   */
  private reopenSocket(): void {
    if (this.graph === null || pictureSenders(this.graph).length === 0) this.server.socket.reopen();
  }

  private cancel(): Promise<'stopped' | 'ignored'> {
    return cancelRun(
      this.server.client,
      this.work.runId,
      this.settings.bounds,
      () => this.state.ended || this.over.signal.aborted,
    );
  }

  private async conclude(ending: Ending, graph: SanitisedGraph, hasMissed: () => boolean): Promise<RunOutcome> {
    const { bounds } = this.settings;
    if (ending.kind === 'lost') return this.lost(ending.reason, true);
    if (ending.kind === 'ignored')
      return this.lost(`ComfyUI ignored the interrupt for ${bounds.interruptGraceMs} ms.`, true);
    const told = ending.kind === 'ended' ? ending.entry : null;
    const entry = told ?? (await this.server.client.history(this.work.runId));
    if (entry) this.apply(onHistory(this.state, entry));
    if (this.state.started) await this.log.whenEnded(bounds.logDrainMs);
    if (this.context.signal.aborted) return this.outcome({ status: 'interrupted' });
    const verdict = verdictOf(this.state, this.server.scrubber.failure);
    if (verdict.status !== 'failed' && this.givingUp.signal.aborted) return this.lost(RESET);
    if (verdict.status === 'interrupted') return this.lost('The run was interrupted, and not by Millrace.');
    if (verdict.status === 'unknown') return this.lost('The run ended, and ComfyUI did not say how.');
    if (verdict.status === 'failed') {
      // What was made before is the caller's; what can't be had any more changes nothing.
      await this.collector?.whenDone().catch(() => undefined);
      return this.failed(verdict.failure);
    }
    return await this.handOver(graph, hasMissed);
  }

  private async handOver(graph: SanitisedGraph, hasMissed: () => boolean): Promise<RunOutcome> {
    await this.collectUnreported(graph);
    const trouble = await this.collector?.whenDone();
    if (trouble?.kind === 'failed') return this.failed(trouble.failure);
    if (trouble?.kind === 'missing') {
      // A cached node reports the files it once made. Without the cache it makes them anew.
      await this.server.client.freeMemory();
      return this.lost(trouble.reason);
    }
    const senders = pictureSenders(graph);
    if (senders.length > 0 && hasMissed()) return this.lost('The connection broke while pictures came over it.');
    if (senders.some((nodeId) => !this.heardNodes.has(nodeId))) {
      return this.lost('The connection was silent when pictures were to come over it.');
    }
    return this.outcome({ status: 'succeeded' });
  }

  /** What nodes saved and said nothing of: models, mostly. Files beside reported ones are a node's own affair. */
  private async collectUnreported({ saveFolders }: SanitisedGraph): Promise<void> {
    for (const [folder, nodeId] of saveFolders) {
      if (this.reportedNodes.has(nodeId)) continue;
      const files = await this.server.files.list(folder);
      if (files.length > 0) this.collector?.takeUnreported(nodeId, files);
    }
  }

  private apply({ state, signals }: Reduction): void {
    this.state = state;
    for (const signal of signals) {
      if (signal.type === 'reported') this.take(signal.report);
      else if (signal.type === 'picture_output') {
        this.collector?.takePicture(signal.nodeId, signal.contentType, signal.data);
      } else this.emit(signal);
      if (signal.type === 'started') this.log.begin();
    }
    if (state.ended) this.finish({ kind: 'ended', entry: null });
  }

  private take(report: Parameters<OutputCollector['take']>[0]): void {
    this.reportedNodes.add(report.nodeId);
    if (report.source === report.nodeId) this.reportedBy.add(this.graph?.classes.get(report.nodeId) ?? '');
    this.collector?.take(report);
  }

  private createCollector({ classes }: SanitisedGraph): OutputCollector {
    const { runId, outputDir } = this.work;
    const signal = AbortSignal.any([this.context.signal, this.over.signal]);
    const emit = (output: Extract<EngineEvent, { type: 'output' }>['output']): void =>
      this.emit({ type: 'output', output });
    return new OutputCollector({ runId, outputDir, classes, files: this.server.files, signal, emit });
  }

  private emit(event: EngineEvent): void {
    if (!this.over.signal.aborted) this.context.onEvent(event);
  }

  private failed(failure: EngineFailure): RunOutcome {
    return this.outcome({ status: 'failed', failure });
  }

  private lost(reason: string, isStuck = false): RunOutcome {
    return this.outcome({ status: 'lost', reason }, isStuck);
  }

  private outcome(result: EngineResult, isStuck = false): RunOutcome {
    const trace = this.graph && { graph: this.graph, state: this.state, reportedBy: this.reportedBy };
    return { result, isStuck, trace };
  }

  private outcomeOf(error: unknown): RunOutcome {
    if (error instanceof GraphRefusal) return this.failed(error.failure);
    if (error instanceof InputUnavailable) {
      const { message } = error;
      return this.failed({ code: 'input_unavailable', message, nodeId: null, classType: null, traceback: null });
    }
    if (this.context.signal.aborted) return this.outcome({ status: 'interrupted' });
    const reason = error instanceof Error ? error.message : String(error);
    return this.lost(this.server.scrubber.failure(reason));
  }
}

function pictureSenders({ classes }: SanitisedGraph): string[] {
  return [...classes].flatMap(([nodeId, name]) => (PICTURE_OUTPUT_CLASSES.has(name) ? [nodeId] : []));
}

function isAbout(message: ServerMessage, promptId: string): boolean {
  if (message.type === 'progress_state') return message.text.slice(0, 200).includes(promptId);
  return 'promptId' in message && message.promptId === promptId;
}

function scrubbed(failure: EngineFailure, scrubber: Scrubber): EngineFailure {
  return { ...failure, message: scrubber.failure(failure.message) };
}
