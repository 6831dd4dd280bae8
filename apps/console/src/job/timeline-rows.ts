import type { Job, JobNodes } from '@millrace/contracts';
import type { GraphNode } from '../graph';

/** A span of the whole, 0 to 1. */
interface TimelineRow {
  key: string;
  name: string;
  /** Null for what is not a node. */
  nodeId: string | null;
  kind: 'queue' | 'done' | 'cached' | 'running' | 'failed' | 'other';
  ms: number;
  from: number;
  to: number;
}

/**
 * The spans of an ended job, one after the other, as nodes of an attempt run. The time that no node took (staging inputs,
 * storing outputs, an attempt before) is one span at the end.
 */
export function timelineOf(
  { metrics }: Pick<Job, 'metrics'>,
  times: JobNodes['nodes'],
  nodes: readonly GraphNode[],
): TimelineRow[] {
  const { queue_ms, execution_ms } = metrics;
  if (execution_ms === null || times.length === 0) return [];
  const classes = new Map(nodes.map((node) => [node.id, node.title ?? node.classType]));
  const inNodesMs = times.reduce((sum, { ms }) => sum + (ms ?? 0), 0);
  const spans: Omit<TimelineRow, 'from' | 'to'>[] = [
    { key: 'queue', name: 'Waited in the queue', nodeId: null, kind: 'queue', ms: queue_ms ?? 0 },
    ...times.map(({ node_id, class_type, state, ms }) => ({
      key: `node ${node_id}`,
      name: classes.get(node_id) ?? class_type,
      nodeId: node_id,
      kind: state,
      ms: ms ?? 0,
    })),
    {
      key: 'other',
      name: 'Inputs, outputs and the rest',
      nodeId: null,
      kind: 'other',
      ms: Math.max(0, execution_ms - inNodesMs),
    },
  ];
  const wholeMs = Math.max(
    1,
    spans.reduce((sum, { ms }) => sum + ms, 0),
  );
  let passedMs = 0;
  return spans.map((span) => {
    const from = passedMs / wholeMs;
    passedMs += span.ms;
    return { ...span, from, to: passedMs / wholeMs };
  });
}
