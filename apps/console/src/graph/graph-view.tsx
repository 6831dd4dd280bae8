import { useEffect, useMemo, type ReactNode } from 'react';
import {
  Background,
  Controls,
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
import { NODE_WIDTH_PX, placeNodes } from './layout';
import { NodeCard, type CardNode } from './node-card';
import type { NodeState } from './node-states';
import './graph-view.css';

const NODE_TYPES: NodeTypes = { card: NodeCard };
const MIN_ZOOM = 0.08;
const FIT = { padding: 0.06, maxZoom: 1.1, minZoom: MIN_ZOOM };
/** Below it values cannot be read: a card shows its title alone, larger. */
const FAR_ZOOM = 0.55;
const NEAR_ZOOM = 0.9;

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
  const direction = useNarrow() ? 'TB' : 'LR';
  const placed = useMemo(() => placeNodes(nodes, direction), [nodes, direction]);
  const far = useStore((state) => state.transform[2] < FAR_ZOOM);
  const { fitView, setCenter, getZoom } = useReactFlow();
  const widthPx = useStore((state) => state.width);
  useEffect(() => void fitView(FIT), [fitView, placed, widthPx]);
  // A node that was chosen elsewhere comes into view.
  useEffect(() => {
    const card = placed.find(({ node }) => node.id === selected);
    if (card === undefined || getZoom() >= FAR_ZOOM) return;
    void setCenter(card.x + NODE_WIDTH_PX / 2, card.y + card.height / 2, { zoom: NEAR_ZOOM, duration: 250 });
  }, [placed, selected, setCenter, getZoom]);
  const cards = placed.map(({ node, x, y, height }): CardNode => ({
    id: node.id,
    type: 'card',
    position: { x, y },
    width: NODE_WIDTH_PX,
    height,
    selected: node.id === selected,
    sourcePosition: direction === 'LR' ? Position.Right : Position.Bottom,
    targetPosition: direction === 'LR' ? Position.Left : Position.Top,
    ariaLabel: `Node ${node.id}, ${node.classType}, ${states?.get(node.id)?.state ?? ''}`,
    data: { node, state: states?.get(node.id) ?? null, faults: faults?.get(node.id) ?? 0 },
  }));
  const edges = useMemo(() => edgesOf(nodes), [nodes]);
  return (
    <ReactFlow
      className={`graph-view ${far ? 'far' : ''}`}
      nodes={cards}
      edges={edges.map((edge) => ({ ...edge, animated: states?.get(edge.target)?.state === 'running' }))}
      nodeTypes={NODE_TYPES}
      onNodeClick={(_, node) => onSelect(node.id)}
      onPaneClick={() => onSelect(null)}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      zoomOnScroll={false}
      preventScrolling={false}
      minZoom={MIN_ZOOM}
      fitView
      fitViewOptions={FIT}
    >
      <Background gap={18} size={1} />
      <Controls showInteractive={false} fitViewOptions={FIT} />
    </ReactFlow>
  );
}

function edgesOf(nodes: readonly GraphNode[]): Edge[] {
  const known = new Set(nodes.map((node) => node.id));
  return nodes.flatMap((node) =>
    node.inputs.flatMap(({ name, link }) =>
      link === null || !known.has(link.nodeId)
        ? []
        : [{ id: JSON.stringify([link, node.id, name]), source: link.nodeId, target: node.id }],
    ),
  );
}
