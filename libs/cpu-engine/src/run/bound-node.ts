import { linkOf, type GraphNode, type Link } from '@millrace/workflow';
import { literalValue } from '../node-api/literal';
import type { CpuNode } from '../node-api/node-class';
import type { Value } from '../node-api/value';

/** Where an input's values come from: another node, or the graph itself. */
export type Source = { link: Link } | { literal: Value };

/** A node of a graph together with its class. */
export interface BoundNode {
  id: string;
  nodeClass: CpuNode;
  /** Inputs that the class declares and the graph gives, in the graph's order. */
  sources: ReadonlyMap<string, Source>;
}

/**
 * @throws {NodeFault} when a literal can not be converted.
 */
export function bindNode(node: GraphNode, nodeClass: CpuNode): BoundNode {
  const sources = new Map<string, Source>();
  for (const [name, value] of node.inputs) {
    const input = nodeClass.inputs.get(name);
    if (!input) continue;
    const link = linkOf(value);
    sources.set(name, link ? { link } : { literal: literalValue(value, name, input.spec) });
  }
  return { id: node.id, nodeClass, sources };
}

/** The links of a node, in the order of its inputs. */
export function linksOfNode({ sources }: BoundNode): Link[] {
  return [...sources.values()].flatMap((source) => ('link' in source ? [source.link] : []));
}
