import { modelNames, neededNodes, topologicalOrder } from '@millrace/workflow';
import { saltsOf } from './cache-salt';
import { refusal } from './graph-refusal';
import { NodeSanitiser, type GraphToSanitise } from './node-sanitiser';

export interface SanitisedGraph {
  /** The graph to post, as JSON text. */
  text: string;
  /** Classes, as submitted, of the nodes posted. */
  classes: ReadonlyMap<string, string>;
  /** Those of them that are there for what they put out. */
  outputNodes: ReadonlySet<string>;
  /** The folders, relative to ComfyUI's output folder, that nodes save into, and whose they are. */
  saveFolders: ReadonlyMap<string, string>;
  /** Model files that nodes name, by node. */
  models: ReadonlyMap<string, string[]>;
}

/**
 * The graph that may be posted: only what an output needs, only inputs that the catalogue knows, every link sound, every
 * file the run's own, every literal digit for digit as submitted.
 *
 * @throws {GraphRefusal} when it can't be posted, naming the node at fault
 */
export function sanitiseGraph(work: GraphToSanitise): SanitisedGraph {
  const { graph } = work;
  const order = orderOf(work);
  const sanitiser = new NodeSanitiser(work, new Set(order));
  // One that no known output needs may be an output itself, which must not go missing without a word.
  for (const node of graph.nodes.values()) sanitiser.classOf(node);
  const salts = saltsOf(new Map(order.map((id) => [id, sanitiser.saltedNode(id)])), work.cacheScope, work.runId);
  const posted = [...graph.nodes.values()].filter(({ id }) => sanitiser.needs(id));
  const nodes = posted.map((node) => `${JSON.stringify(node.id)}:${sanitiser.post(node, salts.get(node.id))}`);
  return {
    text: `{${nodes.join(',')}}`,
    classes: new Map(posted.map(({ id, classType }) => [id, classType])),
    outputNodes: new Set(posted.filter((node) => sanitiser.classOf(node).outputNode).map(({ id }) => id)),
    saveFolders: sanitiser.saveFolders,
    models: new Map(posted.map((node) => [node.id, modelNames(node, sanitiser.classOf(node))])),
  };
}

function orderOf({ graph, catalogue, limits }: GraphToSanitise): string[] {
  const count = neededNodes(graph, catalogue).size;
  if (count === 0) throw refusal('The workflow has no output node: nothing would be computed. Add a node that saves.');
  if (count > limits.maxNodes) {
    throw refusal(`The workflow needs ${count} nodes, and at most ${limits.maxNodes} can run. Split it.`);
  }
  try {
    return topologicalOrder(graph, catalogue);
  } catch (error) {
    if (error instanceof RangeError) throw refusal(error.message);
    throw error;
  }
}
