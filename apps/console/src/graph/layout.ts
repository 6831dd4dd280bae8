import { Graph, layout } from '@dagrejs/dagre';
import type { GraphNode } from './graph';

const LINE_PX = 20;
const FOOT_PX = 10;
/** Values that a node shows; the rest are in its form. */
export const SHOWN_VALUES = 4;
/** Of the drawing. Below it nobody reads the titles any more. */
export const LEAST_SCALE = 0.8;
const MOST_SCALE = 1.1;
/** Around the graph, on the screen. */
const MARGIN_PX = 16;

/** Cards with their values. */
const CARD = { width: 200, head: 40, apart: 26, ranksApart: { LR: 48, TB: 40 } };
/** Cards that show their titles alone. */
const TITLE = { width: 144, height: 44, apart: 12, ranksApart: 30, linesApart: 40 };

type Direction = 'LR' | 'TB';

export interface PlacedNode {
  node: GraphNode;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where the nodes of a graph stand, in pixels at a scale of 1. */
export interface Drawing {
  placed: PlacedNode[];
  width: number;
  height: number;
}

/** The part of a drawing that a box shows: `x` and `y` are where the drawing's corner lies in it. `whole`: it shows all of it. */
interface View {
  x: number;
  y: number;
  zoom: number;
  whole: boolean;
}

/** In pixels. */
export interface Size {
  width: number;
  height: number;
}

/** The inputs of a node that have values of their own. */
export const valuesOf = (node: GraphNode): GraphNode['inputs'] => node.inputs.filter((input) => input.link === null);

/** Where each node stands: data flows from left to right, or from top to bottom on a narrow screen. */
export function drawCards(nodes: readonly GraphNode[], direction: Direction): Drawing {
  const { width, head, apart, ranksApart } = CARD;
  const graph = arranged(nodes, { direction, apart, ranksApart: ranksApart[direction] }, (node) => ({
    width,
    height: head + valuesHeight(node),
  }));
  return drawingOf(
    nodes.map((node) => {
      const { x, y, height } = graph.node(node.id) as Spot;
      return { node, x: x - width / 2, y: y - height / 2, width, height };
    }),
  );
}

/** How many cards with titles a box shows beside each other, and below each other, so that they can be read. */
export function titlesIn(box: Size): { columns: number; rows: number } {
  const { width, height, apart, ranksApart } = TITLE;
  const [across, down] = [box.width, box.height].map((length) => (length - 2 * MARGIN_PX) / LEAST_SCALE) as [
    number,
    number,
  ];
  return {
    columns: Math.max(1, Math.floor((across + ranksApart) / (width + ranksApart))),
    rows: Math.max(1, Math.floor((down + apart) / (height + apart))),
  };
}

/**
 * A graph that is too large for cards with values: its titles, which flow from left to right and go on in the next line, as text does.
 *
 * @param columns of a line. Nodes that are equally far from where data begins stand in one, or in several if they are more than `rows`.
 */
export function drawTitles(nodes: readonly GraphNode[], { columns, rows }: { columns: number; rows: number }): Drawing {
  const { width, height, apart, ranksApart, linesApart } = TITLE;
  const graph = arranged(nodes, { direction: 'LR', apart, ranksApart }, () => ({ width, height }));
  const spots = nodes
    .map((node) => ({ node, ...(graph.node(node.id) as Spot) }))
    .sort((a, b) => a.x - b.x || a.y - b.y);
  const ranks = [...new Set(spots.map(({ x }) => x))].map((rank) => spots.filter(({ x }) => x === rank));
  const lines = chunks(
    ranks.flatMap((rank) => chunks(rank, rows)),
    columns,
  );
  const placed: PlacedNode[] = [];
  let top = 0;
  for (const line of lines) {
    const heights = line.map((column) => column.length * (height + apart) - apart);
    const tallest = Math.max(...heights);
    line.forEach((column, at) =>
      column.forEach(({ node }, row) => {
        const y = top + (tallest - (heights[at] ?? 0)) / 2 + row * (height + apart);
        placed.push({ node, x: at * (width + ranksApart), y, width, height });
      }),
    );
    top += tallest + linesApart;
  }
  return drawingOf(placed);
}

/** Whether all of a drawing can be shown in a box so that it can be read. */
export function fits(drawing: Size, box: Size): boolean {
  return scaleToFit(drawing, box) >= LEAST_SCALE;
}

/**
 * How a box shows a drawing: all of it, or, where that could not be read, the part around a node.
 *
 * @param at the node; absent: where data begins.
 */
export function viewOf(drawing: Drawing, box: Size, at?: PlacedNode): View {
  const scale = scaleToFit(drawing, box);
  const zoom = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
  const start = drawing.placed.toSorted((a, b) => a.x + a.y - (b.x + b.y))[0];
  const { x, y, width, height } = at ?? start ?? { x: 0, y: 0, width: 0, height: 0 };
  return {
    x: cornerOf(drawing.width * zoom, box.width, (x + width / 2) * zoom),
    y: cornerOf(drawing.height * zoom, box.height, (y + height / 2) * zoom),
    zoom,
    whole: scale >= LEAST_SCALE,
  };
}

/** The middle of a node. */
interface Spot {
  x: number;
  y: number;
  height: number;
}

function arranged(
  nodes: readonly GraphNode[],
  { direction, apart, ranksApart }: { direction: Direction; apart: number; ranksApart: number },
  sizeOf: (node: GraphNode) => Size,
): Graph {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, nodesep: apart, ranksep: ranksApart });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(nodes.map((node) => node.id));
  for (const node of nodes) graph.setNode(node.id, sizeOf(node));
  for (const node of nodes) {
    for (const { link } of node.inputs)
      if (link !== null && known.has(link.nodeId)) graph.setEdge(link.nodeId, node.id);
  }
  layout(graph);
  return graph;
}

function drawingOf(placed: PlacedNode[]): Drawing {
  const width = Math.max(0, ...placed.map((card) => card.x + card.width));
  const height = Math.max(0, ...placed.map((card) => card.y + card.height));
  return { placed, width, height };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

function scaleToFit(drawing: Size, box: Size): number {
  const [across, down] = [box.width - 2 * MARGIN_PX, box.height - 2 * MARGIN_PX];
  return Math.min(across / Math.max(1, drawing.width), down / Math.max(1, drawing.height));
}

/** Where a length begins in a box that is to show a point of it: in the middle, but with nothing empty beside it. */
function cornerOf(length: number, box: number, point: number): number {
  if (length + 2 * MARGIN_PX <= box) return (box - length) / 2;
  return Math.min(MARGIN_PX, Math.max(box - MARGIN_PX - length, box / 2 - point));
}

function valuesHeight(node: GraphNode): number {
  const lines = Math.min(valuesOf(node).length, SHOWN_VALUES);
  return lines === 0 ? 0 : lines * LINE_PX + FOOT_PX;
}
