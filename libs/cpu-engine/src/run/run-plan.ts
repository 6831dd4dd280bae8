import {
  JsonSyntaxError,
  neededNodes,
  outputNodes,
  parseWorkflow,
  topologicalOrder,
  validateWorkflow,
  type WorkflowGraph,
} from '@millrace/workflow';
import type { EngineFailure } from '@millrace/engines';
import { bindNode, type BoundNode } from './bound-node';
import { CPU_CATALOGUE, CPU_NODES } from '../nodes/registry';

export interface RunPlan {
  /** The nodes that outputs depend on, and the output nodes themselves; each after all that it depends on. */
  nodes: ReadonlyMap<string, BoundNode>;
  /** In the graph's order. */
  outputs: string[];
}

/** Reads a workflow and checks it against the catalogue; the failure names the first fault. */
export function planRun(workflow: string): { plan: RunPlan } | { failure: EngineFailure } {
  try {
    const graph = parseWorkflow(workflow);
    const failure = faultOf(graph);
    return failure ? { failure } : { plan: bound(graph) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { failure: wholeGraphFailure(error.message) };
    throw error;
  }
}

function faultOf(graph: WorkflowGraph): EngineFailure | null {
  const [first] = Object.entries(validateWorkflow(graph, CPU_CATALOGUE));
  if (!first) return null;
  const [nodeId, [error]] = first;
  const message = error?.message ?? 'The workflow can not be run.';
  if (nodeId === '') return wholeGraphFailure(message);
  const classType = graph.nodes.get(nodeId)?.classType ?? null;
  return { code: 'node_execution_error', message, nodeId, classType, traceback: null };
}

function wholeGraphFailure(message: string): EngineFailure {
  return { code: 'engine_error', message, nodeId: null, classType: null, traceback: null };
}

function bound(graph: WorkflowGraph): RunPlan {
  const needed = neededNodes(graph, CPU_CATALOGUE);
  const nodes = new Map<string, BoundNode>();
  for (const id of topologicalOrder(graph, CPU_CATALOGUE)) {
    const node = graph.nodes.get(id);
    const nodeClass = node && CPU_NODES.get(node.classType);
    if (node && nodeClass && needed.has(id)) nodes.set(id, bindNode(node, nodeClass));
  }
  return { nodes, outputs: outputNodes(graph, CPU_CATALOGUE) };
}
