import type { NodeCatalogue, NodeClass } from '@millrace/contracts';
import { classOf, inputOf } from './catalogue';
import { linkOf, type GraphNode, type WorkflowGraph } from './workflow';
import type { JsonNode } from '../json';

const SEED_INPUT = /seed/i;
const WHOLE_NUMBER = /^-?\d+$/;

/**
 * The work that a graph asks for, as text: graphs with equal work take about as long on the same machine. It has what decides the
 * time: nodes, links, whole numbers (steps, sizes, counts), switches and choices (models, samplers). It leaves out what jobs of one
 * kind differ in: texts, seeds, files and fractions, and the order in which nodes and inputs are written.
 *
 * @returns a line for each node.
 */
export function* workOf(graph: WorkflowGraph, catalogue: NodeCatalogue): Generator<string> {
  for (const id of [...graph.nodes.keys()].sort()) {
    const node = graph.nodes.get(id);
    if (node) yield `${workOfNode(node, classOf(catalogue, node.classType))}\n`;
  }
}

function workOfNode({ id, classType, inputs }: GraphNode, nodeClass: NodeClass | undefined): string {
  const parts: unknown[] = [id, classType];
  for (const name of [...inputs.keys()].sort()) {
    const value = inputs.get(name);
    const work = value === undefined ? null : workOfValue(name, value, nodeClass);
    if (work !== null) parts.push([name, work]);
  }
  return JSON.stringify(parts);
}

function workOfValue(name: string, value: JsonNode, nodeClass: NodeClass | undefined): string | null {
  if (value.kind === 'array') {
    const link = linkOf(value);
    return link && `${link.slot}@${link.nodeId}`;
  }
  if (value.kind === 'number') return WHOLE_NUMBER.test(value.raw) && !SEED_INPUT.test(name) ? value.raw : null;
  if (value.kind === 'boolean') return String(value.value);
  const spec = nodeClass && inputOf(nodeClass, name);
  return value.kind === 'string' && spec?.type === 'COMBO' && !spec.file ? value.value : null;
}
