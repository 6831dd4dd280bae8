import { MAX_GRAPH_NODES, beginningOf, type NodeCatalogue, type NodeErrors, type RunLimits } from '@millrace/contracts';
import { classOf, limitsOfRuns, outputNodes, GraphLinks, type WorkflowGraph } from '../graph';
import { reportShapeOfGraph } from './cycles';
import { FaultList, WHOLE_GRAPH } from './faults';
import { checkUndeclared, judgeInputs } from './input-check';
import type { Inspection } from './inspection';
import { reportNames } from './names';
import { reportUnsoundNodes } from './node-shape';
import { NameIndex } from './suggestion';

export interface GraphLimits {
  /**
   * Where input files are only known as assets: a plain file name is refused, because no file of that name can be there.
   * Default false: an engine may have a folder of files.
   */
  assetsOnly?: boolean;
  /** Nodes of a graph; default 5,000. */
  maxNodes?: number;
  /** Nodes in a row, each depending on the next; default 1,000, where a real engine's own recursion gives out. */
  maxDepth?: number;
  /** Faults listed; default 1,000. The message of the last then says that no more are listed. */
  maxFaults?: number;
}

const GRAPH_DEFAULT_LIMITS = { maxNodes: MAX_GRAPH_NODES, maxDepth: 1_000, maxFaults: 1_000 } as const;

/**
 * For the suggestions of one graph, which may hold thousands of unknown names that were chosen to be slow: 300,000 take 2 ms. A mistyped
 * name of 24 characters takes 10,000 among the 379 classes of a plain ComfyUI, and 100,000 among 3,000.
 */
const SUGGESTION_PAIRS = 300_000;

const indexes = new WeakMap<NodeCatalogue, NameIndex>();

/**
 * Everything that is wrong with a graph, by node id; empty when it can be run. Reasons: wire supplement, section 2. `field`
 * is the name of an input, `class_type`, `inputs`, or empty for a node or graph as a whole.
 *
 * A graph that the engine takes without complaint passes, and one that would kill the engine doesn't. Hence values are
 * judged after the engine's conversions; the inputs of nodes that no output depends on are not judged, their class
 * and shape are; and an input that the class doesn't know is ignored unless it looks like a link, which the engine
 * would follow.
 *
 * What an engine runs at once is judged where the catalogue was given limits, by `limitRuns`.
 *
 * The catalogue must not be changed in place afterwards: what was read from it is kept.
 */
export function validateWorkflow(graph: WorkflowGraph, catalogue: NodeCatalogue, limits: GraphLimits = {}): NodeErrors {
  const defaults = GRAPH_DEFAULT_LIMITS;
  const { maxNodes = defaults.maxNodes, maxDepth = defaults.maxDepth, maxFaults = defaults.maxFaults } = limits;
  const faults = new FaultList(maxFaults);
  const { root } = graph;
  if (root.kind !== 'object') {
    faults.add(WHOLE_GRAPH, '', 'not_an_object', 'The workflow must be an object that maps node ids to nodes.');
    return faults.toNodeErrors();
  }
  if (root.entries.length > maxNodes) {
    const message = `The workflow has ${root.entries.length} nodes; at most ${maxNodes} are accepted.`;
    faults.add(WHOLE_GRAPH, '', 'above_max', message);
    return faults.toNodeErrors();
  }
  // Every other message names nodes, inputs and classes.
  if (!reportNames(root, faults)) return faults.toNodeErrors();
  const links = new GraphLinks(graph, catalogue);
  const { assetsOnly = false } = limits;
  const ofRuns = limitsOfRuns(catalogue) ?? { maxNodes, maxDepth };
  inspect(
    { graph, catalogue, links, faults, assetsOnly, unsound: reportUnsoundNodes(graph, faults) },
    { maxNodes: Math.min(maxNodes, ofRuns.maxNodes), maxDepth: Math.min(maxDepth, ofRuns.maxDepth) },
  );
  return faults.toNodeErrors();
}

function inspect(inspection: Inspection, limits: Pick<RunLimits, 'maxNodes' | 'maxDepth'>): void {
  const { graph, catalogue, links } = inspection;
  const unknown = reportUnknownClasses(inspection);
  const outputs = outputNodes(graph, catalogue);
  if (outputs.length + unknown.length + inspection.unsound.size === 0) reportNoOutputs(inspection);
  // A node of unknown class may be an output node. With no candidate at all, every node is worth a look.
  const roots = outputs.length + unknown.length > 0 ? [...outputs, ...unknown] : [...graph.nodes.keys()];
  const judged = links.ancestors(roots, 'declared');
  if (unknown.length === 0 && outputs.length > 0) reportNeededNodes(judged.size, limits, inspection);
  const followed = links.ancestors(roots, 'every');
  for (const id of followed) {
    const node = graph.nodes.get(id);
    if (!node || inspection.faults.isFull) continue;
    const nodeClass = judged.has(id) ? classOf(catalogue, node.classType) : undefined;
    if (nodeClass) judgeInputs(node, nodeClass, inspection);
    else for (const [name, value] of node.inputs) checkUndeclared(node, name, value, inspection);
  }
  reportShapeOfGraph(followed, limits.maxDepth, inspection);
}

function reportNeededNodes(count: number, { maxNodes }: Pick<RunLimits, 'maxNodes'>, { faults }: Inspection): void {
  if (count <= maxNodes) return;
  const message = `A run of the workflow computes ${count} nodes; its engine takes at most ${maxNodes} in one run. Split it into several jobs.`;
  faults.add(WHOLE_GRAPH, '', 'above_max', message);
}

/** Returns the ids of the nodes at fault. */
function reportUnknownClasses({ graph, catalogue, faults }: Inspection): string[] {
  const ids: string[] = [];
  const suggestions = new Map<string, string | null>();
  const budget = { pairs: SUGGESTION_PAIRS };
  for (const { id, classType } of graph.nodes.values()) {
    if (classOf(catalogue, classType)) continue;
    ids.push(id);
    if (!suggestions.has(classType)) suggestions.set(classType, classNames(catalogue).nearest(classType, budget));
    const nearest = suggestions.get(classType);
    const hint = nearest ? ` Did you mean ${JSON.stringify(nearest)}?` : '';
    const message = `There is no node class ${JSON.stringify(beginningOf(classType, 100))} here.${hint}`;
    faults.add(id, 'class_type', 'unknown_node_class', message);
  }
  return ids;
}

function classNames(catalogue: NodeCatalogue): NameIndex {
  let index = indexes.get(catalogue);
  if (!index) indexes.set(catalogue, (index = new NameIndex(Object.keys(catalogue))));
  return index;
}

function reportNoOutputs({ faults }: Inspection): void {
  const message = 'The workflow has no output node (such as SaveImage), so that nothing would be run.';
  faults.add(WHOLE_GRAPH, '', 'no_outputs', message);
}
