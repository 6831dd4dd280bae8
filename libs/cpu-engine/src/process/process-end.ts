import type { EngineResult } from '@millrace/engines';
import type { WorkflowGraph } from '@millrace/workflow';

/** How a compute process ended. */
export type ProcessEnd =
  /** It took more memory than it may; the reason says of what. */
  | { kind: 'exhausted'; reason: string }
  /** Of itself, or by a signal. */
  | { kind: 'exited'; code: number | null; signal: NodeJS.Signals | null }
  /** The engine ended it, or could not start it. */
  | { kind: 'stopped'; reason: string };

/** Signals from outside: an operator's, or the machine's when its memory is at its end. Any process can meet them. */
const FROM_OUTSIDE: ReadonlySet<string | null> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

/** As a sentence for an operator. */
export function sentenceOf(end: ProcessEnd): string {
  if (end.kind === 'exited') return `The compute process ended (${end.signal ?? `code ${end.code}`}).`;
  return end.kind === 'exhausted' ? `The compute process took ${end.reason}.` : end.reason;
}

/**
 * The result of a run whose process ended under it. What a node of the graph did to the process would happen again: the run has
 * failed, and names the node. Anything else is lost, and another attempt may succeed.
 *
 * @param nodeId the node that was being computed; null between two.
 */
export function endedUnder(end: ProcessEnd, graph: WorkflowGraph, nodeId: string | null): EngineResult {
  if (end.kind === 'stopped' || (end.kind === 'exited' && (nodeId === null || FROM_OUTSIDE.has(end.signal))))
    return { status: 'lost', reason: sentenceOf(end) };
  const classType = nodeId === null ? null : (graph.nodes.get(nodeId)?.classType ?? null);
  const code = nodeId === null ? 'engine_error' : 'node_execution_error';
  return { status: 'failed', failure: { code, message: messageOf(end), nodeId, classType, traceback: null } };
}

function messageOf(end: Exclude<ProcessEnd, { kind: 'stopped' }>): string {
  if (end.kind === 'exhausted')
    return `The run took ${end.reason} here and was stopped. Use smaller pictures or batches.`;
  const how = end.signal ?? `code ${end.code}`;
  return `The engine crashed while it computed this node (${how}). Check the files that reach it, or use smaller pictures.`;
}
