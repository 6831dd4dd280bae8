import { Graph, layout } from '@dagrejs/dagre';
import type { GraphNode } from './graph';

export const NODE_WIDTH_PX = 200;
const HEAD_PX = 40;
const LINE_PX = 20;
const FOOT_PX = 10;
/** Values that a node shows; the rest are in its form. */
export const SHOWN_VALUES = 4;

export interface PlacedNode {
  node: GraphNode;
  x: number;
  y: number;
  height: number;
}

/** The inputs of a node that have values of their own. */
export const valuesOf = (node: GraphNode): GraphNode['inputs'] => node.inputs.filter((input) => input.link === null);

/** Where each node stands: data flows from left to right, or from top to bottom on a narrow screen. */
export function placeNodes(nodes: readonly GraphNode[], direction: 'LR' | 'TB'): PlacedNode[] {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, nodesep: 26, ranksep: direction === 'LR' ? 48 : 40, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(nodes.map((node) => node.id));
  for (const node of nodes) graph.setNode(node.id, { width: NODE_WIDTH_PX, height: heightOf(node) });
  for (const node of nodes) {
    for (const { link } of node.inputs)
      if (link !== null && known.has(link.nodeId)) graph.setEdge(link.nodeId, node.id);
  }
  layout(graph);
  return nodes.map((node) => {
    const { x, y, height } = graph.node(node.id) as { x: number; y: number; height: number };
    return { node, x: x - NODE_WIDTH_PX / 2, y: y - height / 2, height };
  });
}

function heightOf(node: GraphNode): number {
  const lines = Math.min(valuesOf(node).length, SHOWN_VALUES);
  return HEAD_PX + (lines === 0 ? 0 : lines * LINE_PX + FOOT_PX);
}
