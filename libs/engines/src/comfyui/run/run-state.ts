import type { EngineEvent } from '../../engine';
import type { NodeError, NodeOutput } from '../protocol';

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
  | Exclude<EngineEvent, { type: 'computed' | 'output' | 'log' }>
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
  readonly readsProgressState: boolean;
}

export interface Reduction {
  state: RunState;
  signals: RunSignal[];
}

/** Nodes that send their pictures as binary messages alone: no `executed`, nothing in history. */
export const PICTURE_OUTPUT_CLASSES: ReadonlySet<string> = new Set(['SaveImageWebsocket']);

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
    readsProgressState: false,
  };
}

/**
 * The submitted node that an id stands for: itself, or what ComfyUI displays it as, or the node whose id it extends
 * (`1.0.0.2` was added by `1`). Null when there is none.
 */
export function submittedNode(state: RunState, id: string | null, displayNode: string | null): string | null {
  const { classes } = state.graph;
  for (const candidate of [id, displayNode, id === null ? null : (state.displayed.get(id) ?? null)]) {
    if (candidate !== null && classes.has(candidate)) return candidate;
  }
  for (let at = id?.lastIndexOf('.') ?? -1; id !== null && at > 0; at = id.lastIndexOf('.', at - 1)) {
    if (classes.has(id.slice(0, at))) return id.slice(0, at);
  }
  return null;
}
