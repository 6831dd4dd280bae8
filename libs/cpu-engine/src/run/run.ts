import type { EngineEvent, EngineResult } from '@millrace/engines';
import { linksOfNode, type BoundNode } from './bound-node';
import { ExecutionOrder } from './execution-order';
import { InputFiles } from './input-files';
import { MemoryBudget } from './memory-budget';
import { callNode, type InputLists } from './node-call';
import { OutputFolder, OutputWriteError } from './output-folder';
import type { NodeOutputs, ResultCache } from './result-cache';
import { RunContext, type RunResources } from './run-context';
import { planRun, type RunPlan } from './run-plan';
import { signaturesOf } from './signature';
import { failureOf } from './traceback';
import type { Value } from '../node-api/value';
import { RunInterrupted } from '../node-api/work';
import type { ThreadWork } from '../process/messages';

/** Names in a log line are cut to this length. */
const SHOWN_ID = 100;

export interface RunSettings {
  cache: ResultCache;
  /** Bytes of pixels and text that the run may hold at once. */
  budgetBytes: number;
  emit: (event: EngineEvent) => void;
  /** Polled; true once the run has been asked to stop. */
  isInterrupted: () => boolean;
}

/** Runs one workflow to its end. Never rejects. */
export async function runWorkflow(work: ThreadWork, settings: RunSettings): Promise<EngineResult> {
  settings.emit({ type: 'started' });
  try {
    const planned = planRun(work.workflow);
    if ('failure' in planned) return { status: 'failed', failure: planned.failure };
    return await new Run(work, planned.plan, settings).execute();
  } catch (error) {
    if (error instanceof RunInterrupted) return { status: 'interrupted' };
    if (error instanceof OutputWriteError) return { status: 'disk_failed', reason: error.message };
    const message = error instanceof Error ? error.message : String(error);
    const failure = { code: 'engine_error', message, nodeId: null, classType: null, traceback: null } as const;
    return { status: 'failed', failure };
  }
}

class Run {
  private readonly resources: RunResources;
  private readonly results = new Map<string, NodeOutputs>();
  /** By node, how many nodes that have not run yet need its results. */
  private readonly consumers = new Map<string, number>();

  constructor(
    private readonly work: ThreadWork,
    private readonly plan: RunPlan,
    private readonly settings: RunSettings,
  ) {
    this.resources = {
      emit: settings.emit,
      isInterrupted: settings.isInterrupted,
      budget: new MemoryBudget(settings.budgetBytes),
      inputs: new InputFiles(work.inputs),
      outputs: new OutputFolder(work.outputDir),
    };
  }

  async execute(): Promise<EngineResult> {
    const { nodes, outputs } = this.plan;
    const signatures = await signaturesOf(nodes.values(), (name) => this.resources.inputs.hash(name));
    const signatureOf = (id: string): string => signatures.get(id) ?? '';
    const order = new ExecutionOrder(nodes, outputs, (id) => this.fromCache(id, signatureOf(id)));
    this.startWith(order);
    for (let id = order.next(); id !== undefined; id = order.next()) {
      const failed = await this.runNode(nodes.get(id) as BoundNode, signatureOf(id));
      if (failed) return failed;
    }
    return { status: 'succeeded' };
  }

  /** Output nodes are never remembered: their files belong to the run that wrote them. */
  private fromCache(id: string, signature: string): boolean {
    if (this.results.has(id)) return true;
    if (this.plan.nodes.get(id)?.nodeClass.entry.outputNode) return false;
    const outputs = this.settings.cache.find(this.work.cacheScope, signature);
    if (outputs) this.keep(id, outputs);
    return outputs !== undefined;
  }

  private keep(id: string, outputs: NodeOutputs): void {
    this.results.set(id, outputs);
    this.resources.budget.keep(outputs.flat());
  }

  private startWith(order: ExecutionOrder): void {
    const nodeIds = [...this.plan.nodes.keys()].filter((id) => !order.includes(id));
    if (nodeIds.length > 0) this.settings.emit({ type: 'nodes_cached', nodeIds });
    for (const node of this.plan.nodes.values()) {
      if (!order.includes(node.id)) continue;
      for (const { nodeId } of linksOfNode(node)) this.consumers.set(nodeId, (this.consumers.get(nodeId) ?? 0) + 1);
    }
  }

  /** Runs one node; returns the run's result if that was the end of it. */
  private async runNode(node: BoundNode, signature: string): Promise<EngineResult | null> {
    const { emit, isInterrupted } = this.settings;
    if (isInterrupted()) return { status: 'interrupted' };
    const startedAt = performance.now();
    emit({ type: 'node_started', nodeId: node.id });
    const inputs = this.inputsOf(node);
    try {
      if (!this.fromCache(node.id, signature)) await this.compute(node, inputs, signature);
    } catch (error) {
      if (error instanceof RunInterrupted || error instanceof OutputWriteError) throw error;
      const failure = failureOf(error, { node, inputs });
      this.log(`${nameOf(node)} failed: ${failure.message}`);
      return { status: 'failed', failure };
    }
    this.log(`${nameOf(node)} took ${Math.round(performance.now() - startedAt)} ms`);
    emit({ type: 'node_finished', nodeId: node.id });
    for (const { nodeId } of linksOfNode(node)) this.consumed(nodeId);
    return null;
  }

  private async compute(node: BoundNode, inputs: InputLists, signature: string): Promise<void> {
    const { budget } = this.resources;
    const context = new RunContext(node.id, this.resources);
    const outputs = await callNode(node, inputs, context, (values) => budget.keep(values));
    this.results.set(node.id, outputs);
    if (!node.nodeClass.entry.outputNode) this.settings.cache.remember(this.work.cacheScope, signature, outputs);
  }

  private inputsOf({ sources }: BoundNode): InputLists {
    const lists = new Map<string, Value[]>();
    for (const [name, source] of sources) {
      if ('literal' in source) lists.set(name, [source.literal]);
      else lists.set(name, this.results.get(source.link.nodeId)?.[source.link.slot] ?? []);
    }
    return lists;
  }

  private consumed(id: string): void {
    const left = (this.consumers.get(id) ?? 1) - 1;
    this.consumers.set(id, left);
    if (left > 0) return;
    this.resources.budget.drop(this.results.get(id)?.flat() ?? []);
    this.results.delete(id);
  }

  private log(line: string): void {
    this.settings.emit({ type: 'log', text: `${line}\n` });
  }
}

function nameOf({ id, nodeClass }: BoundNode): string {
  return `${nodeClass.name} (${id.slice(0, SHOWN_ID)})`;
}
