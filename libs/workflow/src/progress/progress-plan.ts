import type { NodeCatalogue } from '@millrace/contracts';
import { neededNodes, type WorkflowGraph } from '../graph';
import { samplerSteps } from './sampler-steps';

export interface PlannedNode {
  classType: string;
  /** 1 for the node, and 1 for each of its sampler steps. */
  weight: number;
}

/** What a run will compute, and how much of the whole each node is (contract, section 2.2). */
export interface ProgressPlan {
  nodes: ReadonlyMap<string, PlannedNode>;
  totalWeight: number;
}

/** Weighs the nodes that a run of the graph computes. */
export function planProgress(graph: WorkflowGraph, catalogue: NodeCatalogue): ProgressPlan {
  const nodes = new Map<string, PlannedNode>();
  let totalWeight = 0;
  for (const id of neededNodes(graph, catalogue)) {
    const node = graph.nodes.get(id);
    if (!node) continue;
    const weight = 1 + samplerSteps(node, graph, catalogue);
    totalWeight += weight;
    nodes.set(id, { classType: node.classType, weight });
  }
  return { nodes, totalWeight };
}
