import type { EngineEvent } from '../../engine';
import type { Frame } from '../protocol/frames';
import type { HistoryEntry } from '../protocol/history';
import { readProgressState, type NodeError, type NodeOutput, type ServerMessage } from '../protocol/messages';

/** The run that messages are read for: its prompt id, and the classes of the submitted graph by node id. */
export interface RunGraph {
  promptId: string;
  classes: ReadonlyMap<string, string>;
}

/** What a node reported, once per node of ComfyUI; several of an expanded node's inner ones share one `nodeId`. */
export interface NodeReport {
  /** The id that ComfyUI used: of the posted graph, or of a node that an expansion added. */
  source: string;
  nodeId: string;
  output: NodeOutput;
}

/** What a message means for the run: events to pass on, and outputs to fetch first. */
export type RunSignal =
  | Exclude<EngineEvent, { type: 'output' | 'log' }>
  | { type: 'reported'; report: NodeReport }
  /** A picture that is the node's output, not a preview. */
  | { type: 'picture_output'; nodeId: string; contentType: 'image/jpeg' | 'image/png'; data: Buffer };

export type Terminal = { status: 'succeeded' } | { status: 'interrupted' } | { status: 'failed'; error: NodeError };

export interface RunState {
  readonly graph: RunGraph;
  readonly started: boolean;
  /** `executing null` has come: nothing more will, and history is complete. */
  readonly ended: boolean;
  readonly terminal: Terminal | null;
  /** The first node whose execution was blocked with a message; the run goes on and calls itself a success. */
  readonly blocked: NodeError | null;
  readonly cached: ReadonlySet<string>;
  readonly begun: ReadonlySet<string>;
  readonly finished: ReadonlySet<string>;
  /** Submitted node ids of nodes that an expansion added. */
  readonly displayed: ReadonlyMap<string, string>;
  /** Ids, in ComfyUI's words, of the nodes that have reported. */
  readonly reported: ReadonlySet<string>;
  /** The node that `executing` named last. */
  readonly current: string | null;
  /** The last `progress_state`, not read yet. */
  readonly pendingProgress: string | null;
  /** False until a `progress_state` of readable size came: then a node ends when the next begins. */
  readonly progressTold: boolean;
}

export interface Reduction {
  state: RunState;
  signals: RunSignal[];
}

/** Nodes that send their pictures as binary messages alone: no `executed`, nothing in history. */
export const PICTURE_OUTPUT_CLASSES: ReadonlySet<string> = new Set(['SaveImageWebsocket']);

/**
 * A `progress_state` grows with the graph and comes with every step (700 nodes: 98 MB a prompt). Up to this size the
 * last one is read at each change of node; beyond, nodes end when the next begins.
 */
const MAX_PROGRESS_STATE_LENGTH = 512 * 1024;

export function initialState(graph: RunGraph): RunState {
  return {
    graph,
    started: false,
    ended: false,
    terminal: null,
    blocked: null,
    cached: new Set(),
    begun: new Set(),
    finished: new Set(),
    displayed: new Map(),
    reported: new Set(),
    current: null,
    pendingProgress: null,
    progressTold: false,
  };
}

/** One text message. Those of other prompts change nothing; nothing changes after the end. */
export function onMessage(state: RunState, message: ServerMessage): Reduction {
  if (state.ended || !concerns(state, message)) return { state, signals: [] };
  const step = new Step(state);
  switch (message.type) {
    case 'execution_start':
      step.start();
      break;
    case 'execution_cached':
      step.skip(message.nodes);
      break;
    case 'executing':
      if (message.node === null) step.end();
      else step.execute(message.node, message.displayNode);
      break;
    case 'progress':
      step.advance(message.node, message.value, message.max);
      break;
    case 'progress_state':
      step.keepProgress(message.text);
      break;
    case 'executed':
      step.report(message.node, message.displayNode, message.output);
      break;
    case 'execution_success':
      step.succeed();
      break;
    case 'execution_error':
      step.fail(message.error);
      break;
    case 'execution_interrupted':
      step.settle({ status: 'interrupted' });
      break;
    default:
      break;
  }
  return step.reduction();
}

/** One binary message. A picture that names no node belongs to the node that began last. */
export function onFrame(state: RunState, frame: Frame): Reduction {
  const unchanged = { state, signals: [] };
  if (state.ended || frame.kind !== 'picture') return unchanged;
  if (frame.promptId === null ? !state.started : frame.promptId !== state.graph.promptId) return unchanged;
  const nodeId = resolve(state, frame.nodeId ?? state.current, frame.displayNodeId);
  if (nodeId === null) return unchanged;
  const { contentType, data } = frame;
  const isOutput = PICTURE_OUTPUT_CLASSES.has(state.graph.classes.get(nodeId) ?? '');
  return { state, signals: [{ type: isOutput ? 'picture_output' : 'preview', nodeId, contentType, data }] };
}

/** The history entry: what the messages did not tell, because a connection was lost on the way. */
export function onHistory(state: RunState, entry: HistoryEntry): Reduction {
  const step = new Step({ ...state, ended: false });
  step.start();
  for (const message of entry.messages) if (message.type === 'execution_cached') step.skip(message.nodes);
  for (const { source, displayNode, output } of entry.outputs) step.report(source, displayNode, output);
  const terminal = terminalOf(entry);
  if (terminal?.status === 'succeeded') step.succeed();
  else if (terminal) step.settle(terminal);
  step.end();
  return step.reduction();
}

/**
 * How a prompt ended, by the messages of its history entry. `status_str` is no guide: a cycle that only shows at run time
 * is reported as a success with an `execution_error`.
 */
function terminalOf({ messages, completed }: HistoryEntry): Terminal | null {
  if (messages.at(-1)?.type === 'execution_success') return { status: 'succeeded' };
  if (messages.some(({ type }) => type === 'execution_interrupted')) return { status: 'interrupted' };
  const failure = messages.findLast((message) => message.type === 'execution_error');
  if (failure) return { status: 'failed', error: failure.error };
  return completed ? { status: 'succeeded' } : null;
}

function concerns(state: RunState, message: ServerMessage): boolean {
  if (message.type === 'progress_state') return true;
  if (message.type === 'other' || message.type === 'logs') return false;
  if (message.promptId !== null) return message.promptId === state.graph.promptId;
  // Sent to a socket that reconnects while a prompt of its own runs.
  return message.type === 'executing' && message.node !== null;
}

/**
 * The submitted node that an id stands for: itself, or what ComfyUI displays it as, or the node whose id it extends
 * (`1.0.0.2` was added by `1`). Null when there is none.
 */
function resolve(state: RunState, id: string | null, displayNode: string | null): string | null {
  const { classes } = state.graph;
  for (const candidate of [id, displayNode, id === null ? null : (state.displayed.get(id) ?? null)]) {
    if (candidate !== null && classes.has(candidate)) return candidate;
  }
  for (let at = id?.lastIndexOf('.') ?? -1; id !== null && at > 0; at = id.lastIndexOf('.', at - 1)) {
    if (classes.has(id.slice(0, at))) return id.slice(0, at);
  }
  return null;
}

/** One message's changes, on a copy of the state; sets are copied when first written to. */
class Step {
  private state: RunState;
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
    this.change({ cached: new Set([...this.state.cached, ...nodeIds]) });
    this.signals.push({ type: 'nodes_cached', nodeIds });
  }

  execute(id: string, displayNode: string | null): void {
    this.start();
    this.readProgress();
    const nodeId = resolve(this.state, id, displayNode);
    const before = resolve(this.state, this.state.current, null);
    if (!this.state.progressTold && before !== null && before !== nodeId) this.finish(before);
    this.change({ current: id });
    if (nodeId === null) return;
    if (resolve(this.state, id, null) !== nodeId) {
      this.change({ displayed: new Map([...this.state.displayed, [id, nodeId]]) });
    }
    this.begin(nodeId);
  }

  advance(id: string | null, value: number, max: number): void {
    const nodeId = resolve(this.state, id, null);
    if (nodeId === null || !Number.isFinite(value) || !(max > 0)) return;
    this.start();
    this.begin(nodeId);
    this.signals.push({ type: 'node_step', nodeId, step: value, steps: max });
  }

  keepProgress(text: string): void {
    if (text.length <= MAX_PROGRESS_STATE_LENGTH) this.change({ pendingProgress: text });
    else if (this.state.progressTold) this.change({ pendingProgress: null, progressTold: false });
  }

  report(id: string | null, displayNode: string | null, output: NodeOutput | null): void {
    const nodeId = resolve(this.state, id, displayNode);
    if (id === null || nodeId === null || output === null || this.state.reported.has(id)) return;
    this.start();
    this.change({ reported: new Set([...this.state.reported, id]) });
    this.signals.push({ type: 'reported', report: { source: id, nodeId, output } });
  }

  succeed(): void {
    this.start();
    this.readProgress();
    for (const nodeId of this.state.begun) this.finish(nodeId);
    this.settle({ status: 'succeeded' });
  }

  fail(error: NodeError): void {
    const named = { ...error, nodeId: resolve(this.state, error.nodeId, null) };
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
    this.change({ begun: new Set([...this.state.begun, nodeId]) });
    this.signals.push({ type: 'node_started', nodeId });
  }

  private finish(nodeId: string): void {
    if (this.state.finished.has(nodeId) || this.state.cached.has(nodeId)) return;
    this.begin(nodeId);
    this.change({ finished: new Set([...this.state.finished, nodeId]) });
    this.signals.push({ type: 'node_finished', nodeId });
  }

  private readProgress(): void {
    const { pendingProgress, graph } = this.state;
    if (pendingProgress === null) return;
    const { promptId, finished } = readProgressState(pendingProgress);
    this.change({ pendingProgress: null });
    if (promptId !== graph.promptId) return;
    this.change({ progressTold: true });
    for (const id of finished) if (graph.classes.has(id)) this.finish(id);
  }

  private change(changes: Partial<RunState>): void {
    this.state = { ...this.state, ...changes };
  }
}
