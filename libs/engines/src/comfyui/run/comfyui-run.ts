import type { NodeCatalogue, RunLimits } from '@millrace/contracts';
import type { EngineFailure, EngineResult, EngineRunContext, EngineWork } from '../../engine';
import type { ComfyuiBounds } from '../comfyui.config';
import { UnusableInput, runFolder, stagedName } from '../files';
import { GraphRefusal, sanitiseGraph, type SanitisedGraph } from '../graph';
import { mapExtraData, postPrompt, TooLarge, type HistoryEntry } from '../protocol';
import { cancelRun, type CancelResult } from './cancel';
import { diskFaultOf } from './disk-fault';
import type { FetchTimes } from './fetch-times';
import { RunMonitor } from './run-monitor';
import { PROCESS_ENDED, type Ending, type RunOutcome, type RunServer } from './run-outcome';
import type { RunOutputs } from './run-outputs';
import { tooLargeFailure } from './too-large';
import { boundedMessage, verdictOf } from './verdict';

export interface RunSettings {
  catalogue: NodeCatalogue;
  reportingClasses: ReadonlySet<string>;
  limits: Pick<RunLimits, 'maxNodes' | 'maxDepth'>;
  bounds: ComfyuiBounds;
  logTailBytes: number;
  previewMethod: string;
  /** Nobody else posts to the server: what it prints from the post on is this run's. */
  isServerOurs: boolean;
  /** How long runs take from their end on the server until what they made is fetched. */
  fetching: FetchTimes;
}

const RESET = 'The engine was reset during the run.';

/** One run of one workflow on a server, from its graph to its outputs. Used once. */
export class ComfyuiRun {
  /** Has to be given everything that the server says while the run goes on. */
  readonly monitor: RunMonitor;
  private graph: SanitisedGraph | null = null;
  private readonly givingUp = new AbortController();
  /** From its post until it is known to be over. */
  private mayBeOnServer = false;
  private lastCancel: CancelResult | null = null;
  private hasHung = false;
  private hasFreed = false;

  constructor(
    private readonly server: RunServer,
    private readonly settings: RunSettings,
    private readonly work: EngineWork,
    private readonly context: EngineRunContext,
  ) {
    const { bounds, isServerOurs, logTailBytes } = settings;
    const isToStop = (): boolean => context.signal.aborted || this.givingUp.signal.aborted;
    this.monitor = new RunMonitor({ work, server, context, bounds, isServerOurs, logTailBytes, isToStop });
  }

  /** Never rejects. Nothing is emitted or written to the caller's folder after it resolves. */
  async execute(): Promise<RunOutcome> {
    // Its input folder gets no new file, and a run may go on for longer than such a folder is left alone.
    const keeping = setInterval(() => void this.server.files.keep(this.work.runId), this.settings.bounds.sweepMs);
    try {
      const outcome = await this.attempt().catch((error: unknown) =>
        error instanceof TooLarge ? this.saidTooMuch(null) : this.outcomeOf(error),
      );
      // A blocked node is cached without its message: the next attempt would succeed without what it blocks.
      const isCacheWrong = outcome.result.status !== 'succeeded' && this.monitor.mayBeBlocked;
      if (isCacheWrong && !outcome.isStuck) await this.freeMemory().catch(() => undefined);
      await this.monitor.close();
      return outcome;
    } finally {
      clearInterval(keeping);
    }
  }

  /** Ends it on the server as a stop does, and as lost: the caller, who wants its result, has not asked for it. */
  giveUp(): void {
    this.givingUp.abort();
  }

  /** The server goes on with it, though it was interrupted, or begins no run any more: only its restart cures that. */
  get isHung(): boolean {
    return this.hasHung || this.lastCancel === 'ignored';
  }

  /** The server was asked to drop its cache and models once the run was over. */
  get hasFreedMemory(): boolean {
    return this.hasFreed;
  }

  /** Removes what the run left on the server, as far as it can be reached. */
  async clean(): Promise<void> {
    await this.server.files.clean(this.work.runId, this.monitor.outputs?.temporaryFiles ?? []);
  }

  private async attempt(): Promise<RunOutcome> {
    const { work, context, settings } = this;
    const staged = new Map(
      work.inputs.map(({ name }, at) => [name, `${runFolder(work.runId)}/${stagedName(at + 1, name)}`]),
    );
    const { catalogue, limits, reportingClasses } = settings;
    const graph = sanitiseGraph({ ...work, staged, catalogue, limits, reportingClasses });
    this.graph = graph;
    const outputs = this.monitor.expect(graph);
    for (const { name, path } of work.inputs) {
      if (!context.signal.aborted) await this.server.files.stage(path, staged.get(name) ?? name);
    }
    if (context.signal.aborted) return this.outcome({ status: 'interrupted' });
    if (this.givingUp.signal.aborted) return this.lost(RESET);
    return await this.post(graph, outputs);
  }

  private async post(graph: SanitisedGraph, outputs: RunOutputs): Promise<RunOutcome> {
    const { client, socket } = this.server;
    const { bounds } = this.settings;
    this.monitor.onPost();
    const prompt = { promptId: this.work.runId, clientId: socket.clientId, graph: graph.text };
    const extraData = { ...mapExtraData(this.work.extraData), preview_method: this.settings.previewMethod };
    this.mayBeOnServer = true;
    const posted = await postPrompt(client, { ...prompt, extraData }, graph.classes, bounds.postMs);
    if (posted.status === 'lost') return this.outcome(posted, true);
    if (posted.status === 'refused') return this.failed(this.scrubbed(posted.failure));
    if (posted.status === 'partly_accepted') {
      const canceled = await this.cancel();
      return this.outcome({ status: 'failed', failure: this.scrubbed(posted.failure) }, canceled !== 'stopped');
    }
    const ending = await this.whenOver();
    this.mayBeOnServer = false;
    const { fetching } = this.settings;
    if (this.monitor.hasSucceeded && fetching.areQuick) this.monitor.onComputed();
    return await fetching.measured(() => this.conclude(ending, outputs));
  }

  private async whenOver(): Promise<Ending> {
    const signal = AbortSignal.any([this.context.signal, this.givingUp.signal]);
    const onAbort = (): void => void this.cancel().then((result) => this.monitor.onCanceled(result));
    this.monitor.startWatching();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const ending = await this.monitor.ending;
    signal.removeEventListener('abort', onAbort);
    this.monitor.stopWatching();
    return ending;
  }

  private async cancel(): Promise<CancelResult> {
    const { monitor, server, settings, work } = this;
    const isOver = (): boolean => monitor.state.ended || monitor.closed.aborted;
    return (this.lastCancel = await cancelRun(server.client, work.runId, settings.bounds, isOver));
  }

  private async conclude(ending: Ending, outputs: RunOutputs): Promise<RunOutcome> {
    const { bounds } = this.settings;
    if (ending.kind === 'lost') {
      this.hasHung = ending.isHung === true;
      return this.lost(ending.reason, true);
    }
    if (ending.kind === 'crashed') return await this.crashed(outputs);
    if (ending.kind === 'too_large') return await this.saidTooMuch(ending.nodeId);
    if (ending.kind === 'ignored') {
      return this.lost(`ComfyUI ignored the interrupt for ${bounds.interruptGraceMs} ms.`, true);
    }
    const known = ending.kind === 'ended' ? ending.entry : null;
    const entry = known ?? (await this.entry());
    if (entry) this.monitor.onEntry(entry);
    await this.monitor.whenLogEnded(bounds.logDrainMs);
    if (this.context.signal.aborted) return this.outcome({ status: 'interrupted' });
    const verdict = verdictOf(this.monitor.state, this.server.scrubber.failure);
    if (verdict.status !== 'failed' && this.givingUp.signal.aborted) return this.lost(RESET);
    if (verdict.status === 'disk_failed') return this.outcome(verdict);
    if (verdict.status === 'broken') return this.lost(verdict.reason);
    if (verdict.status === 'interrupted') return this.lost('The run was interrupted, and not by Millrace.');
    if (verdict.status === 'unknown') return this.lost('The run ended, and ComfyUI did not say how.');
    if (verdict.status === 'failed') {
      // What was made before belongs to the caller; what can no longer be fetched changes nothing.
      await outputs.whenDone().catch(() => undefined);
      return this.failed(verdict.failure);
    }
    return await this.handOver(outputs);
  }

  /** A failed node makes its entry too large by its error, which the socket has brought, or by its inputs. */
  private async entry(): Promise<HistoryEntry | null> {
    try {
      return await this.server.client.history(this.work.runId);
    } catch (error) {
      if (error instanceof TooLarge && this.monitor.hasFailed) return null;
      throw error;
    }
  }

  /** There is no history any more, nor will there be: what the process said in dying is all. */
  private async crashed(outputs: RunOutputs): Promise<RunOutcome> {
    // What was made before belongs to the caller; what can no longer be fetched changes nothing.
    await outputs.whenDone().catch(() => undefined);
    if (this.context.signal.aborted) return this.outcome({ status: 'interrupted' }, true);
    const verdict = verdictOf(this.monitor.state, this.server.scrubber.failure);
    if (verdict.status === 'failed') return this.outcome({ status: 'failed', failure: verdict.failure }, true);
    return this.lost(verdict.status === 'broken' ? verdict.reason : PROCESS_ENDED, true);
  }

  /** Another attempt would say as much. What it does not say cannot be known, so that it is not left to go on. */
  private async saidTooMuch(nodeId: string | null): Promise<RunOutcome> {
    const isStuck = (await this.cancel()) !== 'stopped';
    // What was made before belongs to the caller; what can no longer be fetched changes nothing.
    await this.monitor.outputs?.whenDone().catch(() => undefined);
    if (this.context.signal.aborted) return this.outcome({ status: 'interrupted' }, isStuck);
    const failure = tooLargeFailure(nodeId, this.monitor.state.graph.classes);
    return this.outcome({ status: 'failed', failure }, isStuck);
  }

  private async handOver(outputs: RunOutputs): Promise<RunOutcome> {
    await outputs.findUnreported();
    const trouble = await outputs.whenDone();
    if (trouble?.kind === 'failed') return this.failed(trouble.failure);
    if (trouble?.kind === 'missing') {
      // A cached node reports the files it once made. Without the cache it makes them again.
      await this.freeMemory();
      return this.lost(trouble.reason);
    }
    const { missed } = this.monitor;
    return missed === null ? this.outcome({ status: 'succeeded' }) : this.lost(missed);
  }

  private async freeMemory(): Promise<void> {
    this.hasFreed = true;
    await this.server.client.freeMemory();
  }

  private scrubbed(failure: EngineFailure): EngineFailure {
    return { ...failure, message: boundedMessage(failure.message, this.server.scrubber.failure) };
  }

  private failed(failure: EngineFailure): RunOutcome {
    return this.outcome({ status: 'failed', failure });
  }

  private lost(reason: string, isStuck = false): RunOutcome {
    return this.outcome({ status: 'lost', reason }, isStuck);
  }

  private outcome(result: EngineResult, isStuck = false): RunOutcome {
    const { graph, monitor } = this;
    const { outputs, state } = monitor;
    return { result, isStuck, trace: graph && outputs && { graph, state, reportedBy: outputs.reportedBy } };
  }

  private outcomeOf(error: unknown): RunOutcome {
    if (error instanceof GraphRefusal) return this.failed(error.failure);
    if (error instanceof UnusableInput) {
      const { message } = error;
      return this.failed({ code: 'input_unavailable', message, nodeId: null, classType: null, traceback: null });
    }
    if (this.context.signal.aborted) return this.outcome({ status: 'interrupted' }, this.mayBeOnServer);
    const diskFault = diskFaultOf(error);
    if (diskFault !== null) return this.outcome({ status: 'disk_failed', reason: diskFault }, this.mayBeOnServer);
    const reason = error instanceof Error ? error.message : String(error);
    return this.lost(boundedMessage(reason, this.server.scrubber.failure), this.mayBeOnServer);
  }
}
