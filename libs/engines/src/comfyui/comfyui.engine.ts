import { COMFYUI_RUN_LIMITS, type NodeCatalogue } from '@millrace/contracts';
import { copyOf } from '@millrace/workflow';
import type { Engine, EngineHealth, EngineResult, EngineRunContext, EngineWork } from '../engine';
import { observed } from '../observed';
import {
  DEFAULT_BOUNDS,
  DEFAULT_LOG_TAIL_BYTES,
  type ComfyuiBounds,
  type ComfyuiEngineOptions,
} from './comfyui.config';
import { LeftRuns } from './left-runs';
import { ResidentModels } from './resident-models';
import {
  ComfyuiRun,
  FetchTimes,
  createScrubber,
  endsProcess,
  gpuFaultOf,
  type GpuFault,
  type RunOutcome,
  type RunTrace,
} from './run';
import {
  AttachedServerHost,
  DiskTrouble,
  gpuProblem,
  type LiveServer,
  OwnedServerHost,
  RestartRequest,
  ServerKeeper,
  ServerTrouble,
} from './server';
import { ServerCatalogue } from './server-catalogue';

/**
 * Runs workflows on a ComfyUI: one that somebody else runs, or one of its own. Every run ends: one whose server died, hung or
 * fell silent is `lost`, and a server of the engine's own is replaced.
 */
export class ComfyuiEngine implements Engine {
  readonly kind = 'comfyui';
  private readonly bounds: ComfyuiBounds;
  private readonly keeper: ServerKeeper;
  private readonly restart: RestartRequest;
  private readonly serverCatalogue: ServerCatalogue;
  private readonly resident = new ResidentModels();
  private readonly fetching: FetchTimes;
  /** Classes that were seen to report although they are no output nodes. */
  private readonly reportingClasses = new Set<string>();
  private readonly trouble: ServerTrouble;
  private readonly diskTrouble = new DiskTrouble();
  private readonly chores = new Set<Promise<unknown>>();
  private readonly leftRuns: LeftRuns;
  private current: ComfyuiRun | null = null;
  private busy: Promise<EngineResult> | null = null;

  constructor(private readonly options: ComfyuiEngineOptions) {
    const { isLent, openInputClasses, server, previewMethod = 'auto' } = options;
    this.bounds = { ...DEFAULT_BOUNDS, ...options.bounds };
    this.fetching = new FetchTimes(this.bounds.quickFetchMs);
    this.restart = new RestartRequest(server.mode === 'attach' ? server.restartFile : undefined);
    this.trouble = new ServerTrouble(this.restart);
    const onNotice = (notice: string): void => options.onNotice?.(notice);
    this.leftRuns = new LeftRuns({ bounds: this.bounds, trouble: this.trouble, onNotice });
    this.serverCatalogue = new ServerCatalogue({ openInputClasses, isLent, ttlMs: this.bounds.catalogueMs });
    const onLog = (text: string): void => this.current?.monitor.onPrint(text);
    const host =
      server.mode === 'attach'
        ? new AttachedServerHost(server)
        : new OwnedServerHost({ server, previewMethod, killGraceMs: this.bounds.killGraceMs, onLog });
    this.keeper = new ServerKeeper(host, this.bounds, {
      onText: (text) => this.current?.monitor.onText(text),
      onBinary: (data) => this.current?.monitor.onBinary(data),
      onLargeText: (data) => this.current?.monitor.onLargeText(data),
      onTooLarge: () => this.current?.monitor.onTooLarge(),
      onOpen: () => this.serverCatalogue.expire(),
      onGone: () => this.forgetServer(),
      onNotice,
    });
  }

  /** The process of an own ComfyUI, which leads a process group; null where there is none. */
  get processId(): number | null {
    return this.keeper.processId;
  }

  async start(): Promise<void> {
    await this.keeper.start();
    await this.catalogue();
    const live = await this.keeper.whenLive(new AbortController().signal);
    if ('problem' in live) return;
    // The folders of its own are emptied as it starts, and are those of its successors.
    if (this.keeper.canReplace) this.leftRuns.watch(live.files);
    else await this.leftRuns.takeOver(live);
    if (live.hidesGraphs) return;
    this.options.onNotice?.('ComfyUI runs without --disable-metadata: the files it saves hold the whole workflow.');
  }

  /** The same object as before for as long as nothing has changed: asking often costs nothing. */
  async catalogue(): Promise<NodeCatalogue> {
    const live = await this.keeper.whenLive(new AbortController().signal);
    if ('problem' in live) throw new Error(live.problem);
    return await this.serverCatalogue.fresh(live);
  }

  async run(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    if (this.busy) return { status: 'lost', reason: 'The engine runs one workflow at a time, and has one.' };
    this.busy = observed(context, (guarded) => this.runAlone(work, guarded)).catch((error: unknown) => ({
      status: 'lost',
      reason: error instanceof Error ? error.message : String(error),
    }));
    const result = await this.busy;
    this.current = null;
    this.busy = null;
    return result;
  }

  async health(): Promise<EngineHealth> {
    const residentModels = this.resident.list();
    const { problem } = this.keeper;
    if (problem !== null) return { ready: false, problem, version: 'unknown', residentModels };
    const live = await this.keeper.whenLive(new AbortController().signal);
    if ('problem' in live) return { ready: false, problem: live.problem, version: 'unknown', residentModels };
    const trouble = (await this.troubleOf(live)) ?? (await this.diskTrouble.problemOf(live.files));
    return { ready: trouble === null, problem: trouble, version: live.version, residentModels };
  }

  async reset(): Promise<void> {
    if (this.keeper.canReplace) {
      this.forgetServer();
      await this.keeper.replace();
      return await this.keeper.whenReplaced();
    }
    this.current?.giveUp();
    await this.busy;
    const live = await this.keeper.whenLive(new AbortController().signal);
    const trouble = 'problem' in live ? live.problem : await this.troubleOf(live);
    if (trouble !== null) {
      const cure = " Restart it: the engine can't restart a ComfyUI that it did not start.";
      throw new Error(`${trouble}${this.restart.canBeMade ? '' : cure}`);
    }
    await this.keeper.renewSocket();
  }

  async close(): Promise<void> {
    this.current?.monitor.onServerGone();
    const noMoreSwept = this.leftRuns.close();
    await this.keeper.close();
    await noMoreSwept;
    await Promise.allSettled(this.chores);
  }

  private async runAlone(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    const live = await this.keeper.whenLive(context.signal);
    if (context.signal.aborted) return { status: 'interrupted' };
    if ('problem' in live) return { status: 'lost', reason: live.problem };
    const trouble = this.trouble.isSuspected ? await this.troubleOf(live) : null;
    if (trouble !== null) return { status: 'lost', reason: trouble };
    if (live.socket.lossCount > 0) await this.keeper.renewSocket();
    if (!(await live.socket.whenOpen(this.bounds.connectMs))) {
      return { status: 'lost', reason: 'The WebSocket of ComfyUI could not be opened.' };
    }
    await live.subscribed;
    const run = await this.openRun(live, work, context);
    this.current = run;
    const outcome = await run.execute();
    this.current = null;
    return await this.conclude(outcome, run, work.runId, live, context.signal);
  }

  private async openRun(live: LiveServer, work: EngineWork, context: EngineRunContext): Promise<ComfyuiRun> {
    const { limits, logTailBytes = DEFAULT_LOG_TAIL_BYTES, previewMethod = 'auto' } = this.options;
    const server = { ...live, scrubber: createScrubber(live.roots, Object.values(work.extraData)) };
    const settings = {
      catalogue: await this.serverCatalogue.ofServer(live),
      reportingClasses: this.reportingClasses,
      limits: { ...COMFYUI_RUN_LIMITS, ...limits },
      bounds: this.bounds,
      previewMethod,
      isServerOurs: this.keeper.canReplace,
      fetching: this.fetching,
      logTailBytes,
    };
    return new ComfyuiRun(server, settings, work, context);
  }

  private async conclude(
    { result, isStuck, trace }: RunOutcome,
    run: ComfyuiRun,
    runId: string,
    live: LiveServer,
    signal: AbortSignal,
  ): Promise<EngineResult> {
    if (trace) this.learn(trace, run.hasFreedMemory);
    if (result.status === 'disk_failed') this.diskTrouble.suspect();
    if (result.status === 'lost') this.options.onNotice?.(`Run ${runId} was lost: ${result.reason}`);
    if (trace && endsProcess(faultOf(trace))) await this.replaceBroken(runId, live);
    else if (isStuck) await this.giveUp(runId, live, run.isHung);
    else if (trace) this.later(live.client.forgetHistory(runId));
    await run
      .clean()
      .catch((error: unknown) => this.options.onNotice?.(`Files of run ${runId} stay behind: ${String(error)}`));
    // What was replaced runs no more: that is all that was asked for.
    return isStuck && signal.aborted && this.keeper.canReplace ? { status: 'interrupted' } : result;
  }

  private learn(trace: RunTrace, hasFreedMemory: boolean): void {
    const { graph, state, reportedBy } = trace;
    // Running out of memory makes ComfyUI unload every model.
    if (hasFreedMemory || faultOf(trace) === 'gpu_memory') this.resident.clear();
    else if (state.started) this.resident.keep(graph.models, [...state.cached, ...state.begun]);
    const catalogue = this.serverCatalogue.lastKnown;
    for (const name of reportedBy) if (catalogue?.[name]?.outputNode === false) this.reportingClasses.add(copyOf(name));
  }

  private async giveUp(runId: string, live: LiveServer, isHung: boolean): Promise<void> {
    // A server that is not replaced drops its models before it is given another run.
    this.resident.clear();
    if (this.keeper.canReplace) {
      await this.keeper.replace(live);
    } else {
      // A server that does not answer keeps no result waiting. What is not said now shows in the health.
      this.later(this.leftRuns.endGivenUp(runId, live, isHung));
      await this.keeper.renewSocket();
    }
  }

  /** The GPU takes no more work from the server's process. */
  private async replaceBroken(runId: string, live: LiveServer): Promise<void> {
    this.resident.clear();
    this.options.onNotice?.(gpuProblem(runId));
    if (this.keeper.canReplace) await this.keeper.replace(live);
    else await this.trouble.breakBy(runId).catch((error: unknown) => this.notice(error));
  }

  private notice(error: unknown): void {
    this.options.onNotice?.(error instanceof Error ? error.message : String(error));
  }

  /** Why a server that is at hand cannot run anything, or null. */
  private async troubleOf({ client }: LiveServer): Promise<string | null> {
    try {
      return await this.trouble.problemOf(client);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  private forgetServer(): void {
    this.resident.clear();
    this.current?.monitor.onServerGone();
  }

  /** Something that no result depends on. */
  private later(chore: Promise<unknown>): void {
    const settled = chore.catch(() => undefined).finally(() => this.chores.delete(settled));
    this.chores.add(settled);
  }
}

/** What a run that failed says of its server's memory and GPU. */
function faultOf({ state: { terminal } }: RunTrace): GpuFault | null {
  return terminal?.status === 'failed' ? gpuFaultOf(terminal.error) : null;
}
