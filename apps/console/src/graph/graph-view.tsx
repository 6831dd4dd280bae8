import { useEffect, useEffectEvent, useMemo, type ReactNode } from 'react';
import {
  Background,
  ControlButton,
  Controls,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  Position,
  useReactFlow,
  useStore,
  type Edge,
  type NodeTypes,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useNarrow } from '../ui/use-narrow';
import type { GraphNode } from './graph';
import { Icon } from '../ui/controls/icon';
import {
  LEAST_SCALE,
  drawCards,
  drawTitles,
  fits,
  titlesIn,
  viewOf,
  type Drawing,
  type PlacedNode,
  type Size,
} from './layout';
import { NodeCard, type CardNode } from './node-card';
import type { NodeState } from './node-states';
import './graph-view.css';

const NODE_TYPES: NodeTypes = { card: NodeCard };
/** By hand a graph can be made smaller than its titles can be read. */
const MIN_ZOOM = 0.08;
const MOVE = { duration: 250 };
const MAP_SIZE = { width: 140, height: 90 };
const NARROW_MAP_SIZE = { width: 96, height: 72 };

interface GraphViewProps {
  nodes: readonly GraphNode[];
  /** Absent before the graph runs. */
  states?: ReadonlyMap<string, NodeState> | undefined;
  /** How many faults each node has. */
  faults?: ReadonlyMap<string, number> | undefined;
  selected: string | null;
  onSelect: (id: string | null) => void;
}

/** A graph as it flows, with what is known of each node. It is looked at and chosen from, not edited. */
export function GraphView(props: GraphViewProps): ReactNode {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ nodes, states, faults, selected, onSelect }: GraphViewProps): ReactNode {
  const narrow = useNarrow();
  const direction = narrow ? 'TB' : 'LR';
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const cardsDrawn = useMemo(() => drawCards(nodes, direction), [nodes, direction]);
  // Before the first measure there is no box that it could be too large for.
  const compact = width > 0 && !fits(cardsDrawn, { width, height });
  const { columns, rows } = titlesIn({ width, height });
  const drawing = useMemo(
    () => (compact ? drawTitles(nodes, { columns, rows }) : cardsDrawn),
    [nodes, compact, columns, rows, cardsDrawn],
  );
  const { setViewport, getViewport, setCenter } = useReactFlow();
  const ofState = (wanted: NodeState['state']): PlacedNode | undefined =>
    drawing.placed.find(({ node }) => states?.get(node.id)?.state === wanted);
  const chosen = drawing.placed.find(({ node }) => node.id === selected);
  const view = viewOf(drawing, { width, height }, chosen ?? ofState('failed') ?? ofState('running'));
  // A value that is edited moves nothing: what was moved by hand stays.
  const outline = [compact, drawing.width, drawing.height, nodes.length, width, height].join();
  const show = useEffectEvent(() => void setViewport(view));
  useEffect(() => show(), [outline]);
  // A node that was chosen elsewhere comes into view.
  const showChosen = useEffectEvent(() => {
    if (chosen === undefined || shows(getViewport(), { width, height }, chosen)) return;
    const zoom = Math.max(LEAST_SCALE, getViewport().zoom);
    void setCenter(chosen.x + chosen.width / 2, chosen.y + chosen.height / 2, { zoom, ...MOVE });
  });
  useEffect(() => showChosen(), [selected]);
  const acrossFlow = compact || direction === 'LR';
  const cards = drawing.placed.map(({ node, x, y, width: across, height: down }): CardNode => ({
    id: node.id,
    type: 'card',
    position: { x, y },
    width: across,
    height: down,
    selected: node.id === selected,
    sourcePosition: acrossFlow ? Position.Right : Position.Bottom,
    targetPosition: acrossFlow ? Position.Left : Position.Top,
    ariaLabel: `Node ${node.id}, ${node.classType}, ${states?.get(node.id)?.state ?? ''}`,
    data: { node, state: states?.get(node.id) ?? null, faults: faults?.get(node.id) ?? 0, compact },
  }));
  const edges = useMemo(() => edgesOf(nodes, compact ? drawing : null), [nodes, compact, drawing]);
  return (
    <ReactFlow
      className="graph-view"
      nodes={cards}
      edges={edges.map((edge) => ({
        ...edge,
        animated: states?.get(edge.target)?.state === 'running',
        className: edge.source === selected || edge.target === selected ? 'chosen' : '',
      }))}
      nodeTypes={NODE_TYPES}
      onNodeClick={(_, node) => onSelect(node.id)}
      onPaneClick={() => onSelect(null)}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      zoomOnScroll={false}
      preventScrolling={false}
      minZoom={MIN_ZOOM}
      attributionPosition="bottom-center"
    >
      <Background gap={18} size={1} />
      <Controls position="bottom-right" orientation="horizontal" showInteractive={false} showFitView={false}>
        <ControlButton aria-label="Show the graph" title="Show the graph" onClick={() => void setViewport(view, MOVE)}>
          <Icon name="frame" size={13} />
        </ControlButton>
      </Controls>
      {!view.whole && (
        <MiniMap
          ariaLabel="All of the graph"
          position="bottom-left"
          style={narrow ? NARROW_MAP_SIZE : MAP_SIZE}
          nodeClassName={({ id }) => (id === selected ? 'chosen' : (states?.get(id)?.state ?? ''))}
          pannable
        />
      )}
    </ReactFlow>
  );
}

/** Whether all of a card is in a box that shows a graph so. */
function shows(at: { x: number; y: number; zoom: number }, box: Size, card: PlacedNode): boolean {
  const [left, top] = [card.x * at.zoom + at.x, card.y * at.zoom + at.y];
  const [right, bottom] = [left + card.width * at.zoom, top + card.height * at.zoom];
  return at.zoom >= LEAST_SCALE && left >= 0 && top >= 0 && right <= box.width && bottom <= box.height;
}

/** @param lines where the nodes stand of a graph that goes on in the next line: to there an edge is straight. Null: it has one line. */
function edgesOf(nodes: readonly GraphNode[], lines: Drawing | null): Edge[] {
  const known = new Set(nodes.map((node) => node.id));
  const across = new Map(lines?.placed.map(({ node, x }) => [node.id, x]));
  return nodes.flatMap((node) =>
    node.inputs.flatMap(({ name, link }) =>
      link === null || !known.has(link.nodeId)
        ? []
        : [
            {
              id: JSON.stringify([link, node.id, name]),
              type: (across.get(link.nodeId) ?? 0) < (across.get(node.id) ?? 1) ? 'default' : 'straight',
              source: link.nodeId,
              target: node.id,
            },
          ],
    ),
  );
}
