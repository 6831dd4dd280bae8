import type { NodeCatalogue } from '@millrace/contracts';
import { classOf } from './catalogue';
import { GraphLinks } from './links';
import { stronglyConnected } from './strongly-connected';
import type { WorkflowGraph } from './workflow';

/** The nodes whose class is an output node: what a run is for. */
export function outputNodes(graph: WorkflowGraph, catalogue: NodeCatalogue): string[] {
  const ids: string[] = [];
  for (const { id, classType } of graph.nodes.values()) if (classOf(catalogue, classType)?.outputNode) ids.push(id);
  return ids;
}

/**
 * The nodes that a run computes: output nodes and what they depend on through declared inputs. An engine never runs
 * the others.
 */
export function neededNodes(graph: WorkflowGraph, catalogue: NodeCatalogue): ReadonlySet<string> {
  return new GraphLinks(graph, catalogue).ancestors(outputNodes(graph, catalogue), 'declared');
}

/**
 * The needed nodes in an order in which they can run: each after all it depends on.
 *
 * @throws {RangeError} when they form a cycle; a graph that passed `validateWorkflow` has none
 */
export function topologicalOrder(graph: WorkflowGraph, catalogue: NodeCatalogue): string[] {
  const links = new GraphLinks(graph, catalogue);
  const needed = links.ancestors(outputNodes(graph, catalogue), 'declared');
  const groups = stronglyConnected(needed, (id) => links.targets(id, 'declared'));
  return groups.map(([id = '', ...others]) => {
    if (others.length === 0 && !links.targets(id, 'declared').includes(id)) return id;
    throw new RangeError(`The nodes ${[id, ...others].slice(0, 10).join(', ')} depend on one another in a cycle.`);
  });
}
