import type { InputSpec, NodeCatalogue, NodeClass } from '@millrace/contracts';
import { classOf, inputOf, inputTypeOf, linkOf, type GraphNode, type WorkflowGraph } from '../graph';
import { pythonInt } from '../json';

/** Links followed from an input to what it is worth: through primitives, and through nodes that edit a schedule. */
const MAX_HOPS = 16;
/** More than any sampler runs: a weight must not drown all others. */
const MAX_STEPS = 100_000;

/**
 * The sampler steps that a node will run, 0 for one that runs none.
 *
 * A node that declares an INT input `steps` runs that many, or the part of them from `start_at_step` to `end_at_step` where
 * it declares these too. A scheduler declares `steps` and runs none: it gives SIGMAS, and the node that takes the SIGMAS runs
 * its steps. Inputs count by literal, by a link to a primitive, or by default.
 */
export function samplerSteps(node: GraphNode, graph: WorkflowGraph, catalogue: NodeCatalogue): number {
  const nodeClass = classOf(catalogue, node.classType);
  if (!nodeClass || isScheduler(nodeClass)) return 0;
  const source = inputOf(nodeClass, 'steps') ? node : schedulerOf(node, graph, catalogue);
  const steps = source && integerInput(source, 'steps', graph, catalogue);
  if (!source || steps === null) return 0;
  const start = integerInput(source, 'start_at_step', graph, catalogue) ?? 0;
  const end = integerInput(source, 'end_at_step', graph, catalogue) ?? steps;
  return Math.min(MAX_STEPS, Math.max(0, Math.min(end, steps) - Math.max(0, start)));
}

function isScheduler(nodeClass: NodeClass): boolean {
  return nodeClass.outputs.some((output) => output.type === 'SIGMAS');
}

/** The node with `steps` from which a node's SIGMAS come, perhaps through nodes that cut or flip them. */
function schedulerOf(node: GraphNode, graph: WorkflowGraph, catalogue: NodeCatalogue): GraphNode | null {
  let taker: GraphNode | undefined = node;
  for (let hop = 0; taker && hop < MAX_HOPS; hop += 1) {
    const nodeClass = classOf(catalogue, taker.classType);
    if (!nodeClass) return null;
    if (inputOf(nodeClass, 'steps')) return taker;
    const name = Object.keys(nodeClass.inputs).find((input) => inputOf(nodeClass, input)?.type === 'SIGMAS');
    taker = name === undefined ? undefined : linkedNode(taker, name, graph);
  }
  return null;
}

function integerInput(node: GraphNode, name: string, graph: WorkflowGraph, catalogue: NodeCatalogue): number | null {
  let [holder, input]: [GraphNode | undefined, string] = [node, name];
  for (let hop = 0; holder && hop < MAX_HOPS; hop += 1) {
    const nodeClass = classOf(catalogue, holder.classType);
    const spec = nodeClass && inputOf(nodeClass, input);
    if (!nodeClass || !spec || inputTypeOf(spec).kind !== 'INT') return null;
    const value = holder.inputs.get(input);
    if (!value) return defaultOf(spec);
    if (value.kind !== 'array') return toNumber(pythonInt(value));
    [holder, input] = [linkedNode(holder, input, graph), 'value'];
  }
  return null;
}

function linkedNode(node: GraphNode, input: string, graph: WorkflowGraph): GraphNode | undefined {
  const value = node.inputs.get(input);
  const link = value && linkOf(value);
  return link ? graph.nodes.get(link.nodeId) : undefined;
}

function defaultOf(spec: InputSpec): number | null {
  return typeof spec.default === 'number' ? spec.default : null;
}

function toNumber(value: number | bigint | null): number | null {
  return value === null ? null : Number(value);
}
