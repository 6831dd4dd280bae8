import { readProgressState, type NodeError, type NodeOutput } from '../protocol';
import { submittedNode, type Reduction, type RunSignal, type RunState, type Terminal } from './run-state';

/**
 * A `progress_state` grows with the graph and comes with every step (700 nodes: 98 MB a prompt). Up to this size the
 * last one is read at each change of node; beyond, nodes end when the next begins.
 */
const MAX_PROGRESS_STATE_LENGTH = 512 * 1024;

/** The sets of a state. */
type SetName = 'cached' | 'begun' | 'finished' | 'reported';

/** The changes of one message, or of a whole history, on a copy of the state: each set is copied once, when it is first added to. */
export class StateChange {
  private state: RunState;
  /** Those that are this change's own. */
  private readonly copies = new Map<SetName, Set<string>>();
  private readonly signals: RunSignal[] = [];

  constructor(before: RunState) {
    this.state = before;
  }

  reduction(): Reduction {
    return { state: this.state, signals: this.signals };
  }

  start(): void {
    if (this.state.started) return;
    this.change({ started: true });
    this.signals.push({ type: 'started' });
  }

  skip(nodes: string[]): void {
    this.start();
    const nodeIds = nodes.filter((id) => this.state.graph.classes.has(id) && !this.state.cached.has(id));
    if (nodeIds.length === 0) return;
    for (const id of nodeIds) this.add('cached', id);
    this.signals.push({ type: 'nodes_cached', nodeIds });
  }

  execute(id: string, displayNode: string | null): void {
    this.start();
    this.readProgress();
    const nodeId = submittedNode(this.state, id, displayNode);
    const before = submittedNode(this.state, this.state.current, null);
    if (!this.state.readsProgressState && before !== null && before !== nodeId) this.finish(before);
    this.change({ current: id });
    if (nodeId === null) return;
    if (submittedNode(this.state, id, null) !== nodeId) {
      this.change({ displayed: new Map([...this.state.displayed, [id, nodeId]]) });
    }
    this.begin(nodeId);
  }

  advance(id: string | null, value: number, max: number): void {
    const nodeId = submittedNode(this.state, id, null);
    if (nodeId === null || !Number.isFinite(value) || !(max > 0)) return;
    this.start();
    this.begin(nodeId);
    this.signals.push({ type: 'node_step', nodeId, step: value, steps: max });
  }

  keepProgress(text: string): void {
    if (text.length <= MAX_PROGRESS_STATE_LENGTH) this.change({ pendingProgress: text });
    else if (this.state.readsProgressState) this.change({ pendingProgress: null, readsProgressState: false });
  }

  report(id: string | null, displayNode: string | null, output: NodeOutput | null): void {
    const nodeId = submittedNode(this.state, id, displayNode);
    if (id === null || nodeId === null || output === null || this.state.reported.has(id)) return;
    this.start();
    this.add('reported', id);
    this.signals.push({ type: 'reported', report: { source: id, nodeId, output } });
  }

  succeed(): void {
    this.start();
    this.readProgress();
    for (const nodeId of this.state.begun) this.finish(nodeId);
    this.settle({ status: 'succeeded' });
  }

  fail(error: NodeError): void {
    const named = { ...error, nodeId: submittedNode(this.state, error.nodeId, null) };
    if (error.exceptionType !== 'ExecutionBlocked') this.settle({ status: 'failed', error: named });
    else if (this.state.blocked === null) this.change({ blocked: named });
  }

  settle(terminal: Terminal): void {
    if (this.state.terminal === null) this.change({ terminal });
  }

  end(): void {
    this.change({ ended: true, pendingProgress: null });
  }

  private begin(nodeId: string): void {
    if (this.state.begun.has(nodeId) || this.state.cached.has(nodeId)) return;
    this.add('begun', nodeId);
    this.signals.push({ type: 'node_started', nodeId });
  }

  private finish(nodeId: string): void {
    if (this.state.finished.has(nodeId) || this.state.cached.has(nodeId)) return;
    this.begin(nodeId);
    this.add('finished', nodeId);
    this.signals.push({ type: 'node_finished', nodeId });
  }

  private readProgress(): void {
    const { pendingProgress, graph } = this.state;
    if (pendingProgress === null) return;
    const { promptId, finished } = readProgressState(pendingProgress);
    this.change({ pendingProgress: null });
    if (promptId !== graph.promptId) return;
    this.change({ readsProgressState: true });
    for (const id of finished) if (graph.classes.has(id)) this.finish(id);
  }

  private add(name: SetName, id: string): void {
    const own = this.copies.get(name) ?? new Set(this.state[name]);
    own.add(id);
    if (this.copies.has(name)) return;
    this.copies.set(name, own);
    this.change({ [name]: own });
  }

  private change(changes: Partial<RunState>): void {
    this.state = { ...this.state, ...changes };
  }
}
