import { setTimeout as delay } from 'node:timers/promises';
import { isLink, LivingGraph } from '../nodes/graph';
import type { HoldPoints } from './hold-points';
import { Blocker, SystemExit, type NodeCall, type NodeClass, type NodeResult } from '../nodes/node-class';
import { describeException, messageOf } from './exception';
import { PromptProgress } from './prompt-progress';
import { itemOf, type HistoryEntry, type QueuedPrompt } from './prompt-queue';
import { cacheKey, type ResultCache } from './result-cache';
import { Scheduler } from './scheduler';
import type { ServerFolders } from '../io/server-folders';
import type { ServerLog } from '../io/server-log';
import type { Sockets } from '../io/sockets';
import type { SimulatedVersion } from '../version';

/** What runs share with the server that they run in. */
export interface ExecutorServer {
  classes: Readonly<Record<string, NodeClass>>;
  cache: ResultCache;
  /** The node that runs, as the editor shows it. */
  current: { node: string | null };
  folders: ServerFolders;
  holds: HoldPoints;
  log: ServerLog;
  sockets: Sockets;
  picturesSteps: boolean;
  keepsTime: boolean;
  version: SimulatedVersion;
  /** The flag that `/interrupt` raises, and that the start of a prompt lowers. */
  interrupt: { isRaised: boolean };
}

class Interrupted extends Error {}

type NodeOutcome = 'done' | 'pending' | 'stopped';

/** One prompt from `execution_start` to `execution_success`, message by message as ComfyUI sends them. */
export class PromptExecutor {
  private readonly graph: LivingGraph;
  private readonly scheduler: Scheduler;
  private readonly progress: PromptProgress;
  private readonly results = new Map<string, unknown[]>();
  private readonly reports = new Map<string, Record<string, unknown>>();
  private readonly executed: string[] = [];
  private readonly messages: [string, unknown][] = [];
  private readonly finishedLater = new Map<string, NodeResult | Error>();
  private readonly expanded = new Map<string, unknown[]>();
  private wake: () => void = () => undefined;

  constructor(
    private readonly server: ExecutorServer,
    private readonly prompt: QueuedPrompt,
  ) {
    const { classes } = server;
    this.graph = new LivingGraph(prompt.graph);
    this.scheduler = new Scheduler(this.graph, {
      isCached: (id) => this.results.has(id) || server.cache.get(this.key(id)) !== undefined,
      isOutput: (id) => this.classOf(id).outputNode === true,
      isAsync: (id) => this.classOf(id).isAsync === true,
    });
    this.progress = new PromptProgress(prompt.promptId, this.graph, (data) => this.send('progress_state', data));
    for (const { class_type } of Object.values(prompt.graph))
      if (!classes[class_type]) throw new SystemExit(class_type);
  }

  /** @throws {SystemExit} when a node ends the thread */
  async execute(): Promise<HistoryEntry> {
    const { interrupt, cache } = this.server;
    interrupt.isRaised = false;
    this.note('execution_start', {});
    const keys = new Map(this.graph.ids.map((id) => [id, this.key(id)]));
    cache.keepOnly(new Set(keys.values()));
    this.note('execution_cached', { nodes: [...keys].filter(([, key]) => cache.get(key)).map(([id]) => id) });
    for (const id of this.prompt.outputs) this.scheduler.add(id);
    const isWhole = await this.dissolve();
    if (isWhole) this.note('execution_success', {});
    return this.entry(isWhole);
  }

  private async dissolve(): Promise<boolean> {
    while (!this.scheduler.isEmpty) {
      const id = this.scheduler.pick();
      if (id === null) {
        await new Promise<void>((resolve) => (this.wake = resolve));
        continue;
      }
      const outcome = await this.runNode(id);
      if (outcome === 'stopped') return false;
      if (outcome === 'done') this.scheduler.complete(id);
    }
    return true;
  }

  private async runNode(id: string): Promise<NodeOutcome> {
    try {
      if (this.expanded.has(id)) return this.conclude(id, { values: this.inputValues(this.expanded.get(id) ?? []) });
      const later = this.finishedLater.get(id);
      if (later instanceof Error) throw later;
      if (later) return this.conclude(id, later);
      const cached = this.server.cache.get(this.key(id));
      if (cached) return this.repeat(id, cached.values, cached.ui);
      return await this.begin(id);
    } catch (error) {
      if (error instanceof SystemExit) throw error;
      this.fail(id, error);
      return 'stopped';
    }
  }

  /** A cached node on the list is an output: it reports what it reported then. */
  private repeat(id: string, values: unknown[], ui: Record<string, unknown> | null): NodeOutcome {
    this.results.set(id, values);
    if (ui) this.reports.set(id, ui);
    this.send('executed', { node: id, display_node: this.graph.get(id).displayId, output: ui });
    this.progress.finish(id);
    return 'done';
  }

  private async begin(id: string): Promise<NodeOutcome> {
    const nodeClass = this.classOf(id);
    this.progress.start(id);
    this.server.current.node = this.graph.get(id).displayId;
    this.send('executing', { node: id, display_node: this.server.current.node });
    await this.server.holds.pass(this.point(id, 0));
    const inputs = this.inputsOf(id);
    const blocker = Object.values(inputs).find((value) => value instanceof Blocker);
    if (blocker) return this.block(id, nodeClass, blocker);
    this.throwIfInterrupted();
    const running = nodeClass.run(this.call(id, inputs));
    if (!nodeClass.isAsync) return this.conclude(id, await running);
    this.scheduler.hold(id);
    void Promise.resolve(running)
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
      .then((result) => {
        this.finishedLater.set(id, result);
        this.scheduler.release(id);
        this.wake();
      });
    return 'pending';
  }

  private block(id: string, nodeClass: NodeClass, { message }: Blocker): NodeOutcome {
    if (message !== null) {
      const { class_type } = this.graph.get(id);
      const said = { exception_message: `Execution Blocked: ${message}`, exception_type: 'ExecutionBlocked' };
      const rest = { traceback: [], current_inputs: [], current_outputs: [] };
      this.send('execution_error', { node_id: id, node_type: class_type, executed: this.executed, ...said, ...rest });
    }
    return this.conclude(id, { values: (nodeClass.outputs ?? []).map(() => new Blocker(null)) });
  }

  private conclude(id: string, { values = [], ui, expand }: NodeResult): NodeOutcome {
    if (ui) {
      this.reports.set(id, ui);
      this.send('executed', { node: id, display_node: this.graph.get(id).displayId, output: ui });
    }
    if (expand) {
      for (const [innerId, node] of Object.entries(expand.graph)) this.graph.add(innerId, node, id);
      for (const innerId of Object.keys(expand.graph)) {
        if (this.classOf(innerId).outputNode) {
          this.scheduler.add(innerId);
          this.scheduler.link(innerId, id);
        }
      }
      for (const value of expand.values) if (isLink(value)) this.scheduler.link(value[0], id);
      this.expanded.set(id, expand.values);
      return 'pending';
    }
    this.results.set(id, values);
    this.server.cache.set(this.key(id), { values, ui: this.reports.get(id) ?? null });
    this.progress.finish(id);
    this.executed.push(id);
    return 'done';
  }

  private fail(id: string, error: unknown): void {
    const { class_type, realId } = this.graph.get(id);
    const who = { node_id: realId, node_type: this.graph.get(realId).class_type, executed: this.executed };
    if (error instanceof Interrupted) {
      this.server.log.log('Processing interrupted\n');
      return this.note('execution_interrupted', who);
    }
    this.server.log.log(`!!! Exception during processing !!! ${messageOf(error)}\n`);
    this.note('execution_error', {
      ...who,
      ...describeException(error, this.server.version),
      current_inputs: { class_type: [class_type] },
      current_outputs: [...this.results.keys()],
    });
  }

  private call(id: string, inputs: Readonly<Record<string, unknown>>): NodeCall {
    const { folders, holds, log, picturesSteps, sockets } = this.server;
    const { clientId, promptId } = this.prompt;
    const { displayId, parentId, realId } = this.graph.get(id);
    const ids = { node_id: id, prompt_id: promptId, display_node_id: displayId, parent_node_id: parentId };
    return {
      id,
      inputs,
      picturesSteps,
      progress: async (value, max, picture) => {
        this.throwIfInterrupted();
        this.progress.update(id, value, max);
        if (picture) sockets.sendPicture(picture.format, picture.bytes, { ...ids, real_node_id: realId }, clientId);
        this.send('progress', { value, max, node: id });
        await holds.pass(this.point(id, value));
      },
      idle: () => holds.pass(this.point(id, 1)),
      pause: (seconds) => this.pause(seconds),
      sleep: async (seconds) => {
        await holds.pass(this.point(id, 1));
        await this.pause(seconds);
      },
      print: (text) => log.print(text),
      log: (text) => log.log(text),
      showProgress: (text) => sockets.sendNodeText(id, text, clientId),
      save: (type, prefix, extension, bytes) => folders.save(type, prefix, extension, bytes),
      readInput: (name) => folders.readInput(name),
    };
  }

  private async pause(seconds: number): Promise<void> {
    if (this.server.keepsTime) await delay(seconds * 1000);
  }

  private inputsOf(id: string): Record<string, unknown> {
    const { class_type, inputs } = this.graph.get(id);
    const declared = { ...this.server.classes[class_type]?.required, ...this.server.classes[class_type]?.optional };
    const known = Object.keys(inputs).filter((name) => name in declared);
    const values = this.inputValues(known.map((name) => inputs[name]));
    return Object.fromEntries(known.map((name, at) => [name, values[at]]));
  }

  private inputValues(values: unknown[]): unknown[] {
    return values.map((value) => {
      if (!isLink(value)) return value;
      const [source, slot] = value;
      return (this.results.get(source) ?? this.server.cache.get(this.key(source))?.values ?? [])[slot];
    });
  }

  private throwIfInterrupted(): void {
    const { interrupt } = this.server;
    if (!interrupt.isRaised) return;
    interrupt.isRaised = false;
    throw new Interrupted();
  }

  private classOf(id: string): NodeClass {
    const nodeClass = this.server.classes[this.graph.get(id).class_type];
    if (!nodeClass) throw new SystemExit();
    return nodeClass;
  }

  private key(id: string): string {
    const { folders } = this.server;
    return cacheKey(id, this.graph, (nodeId) => {
      const changed = this.classOf(nodeId).changed;
      return changed ? changed(this.graph.get(nodeId).inputs, (name) => folders.readInput(name)) : false;
    });
  }

  private point(id: string, step: number) {
    const { class_type } = this.graph.get(id);
    return { promptId: this.prompt.promptId, nodeId: id, classType: class_type, step };
  }

  /** A message that history keeps too. */
  private note(type: string, data: Record<string, unknown>): void {
    const full = { prompt_id: this.prompt.promptId, ...data, timestamp: Date.now() };
    this.messages.push([type, full]);
    this.server.sockets.send(type, full, this.prompt.clientId);
  }

  private send(type: string, data: unknown): void {
    this.server.sockets.send(type, { ...(data as object), prompt_id: this.prompt.promptId }, this.prompt.clientId);
  }

  private entry(isWhole: boolean): HistoryEntry {
    const meta = [...this.reports.keys()].map((id) => {
      const { displayId, parentId, realId } = this.graph.get(id);
      return [id, { node_id: id, display_node: displayId, parent_node: parentId, real_node_id: realId }];
    });
    return {
      prompt: itemOf(this.prompt),
      outputs: Object.fromEntries(this.reports),
      status: { status_str: isWhole ? 'success' : 'error', completed: isWhole, messages: this.messages },
      meta: Object.fromEntries(meta) as Record<string, unknown>,
    };
  }
}
