import { GRAPH_NAME_LENGTH, MAX_GRAPH_NODES, beginningOf, type Progress } from '@millrace/contracts';
import type { JobLog, NodeTiming } from './job';

/** Of the sentence in a progress, in UTF-16 units: it names a class and two numbers. */
const MESSAGE_LENGTH = 1_024;

/**
 * A progress that is small, however much a worker put into it: a page of jobs shows a hundred of them, each event of a stream one, and
 * Redis keeps one for each job that runs. A bounded progress stays as it is.
 */
export function boundedProgress(progress: Progress): Progress {
  const { current_node: nodeId, current_node_class: classType, message } = progress;
  return {
    ...progress,
    ...(nodeId && { current_node: beginningOf(nodeId, GRAPH_NAME_LENGTH) }),
    ...(classType && { current_node_class: beginningOf(classType, GRAPH_NAME_LENGTH) }),
    ...(message && { message: beginningOf(message, MESSAGE_LENGTH) }),
  };
}

/** Times of nodes, no more of them than a graph may have, with names as long as it may have them. */
export function boundedTimings(nodes: readonly NodeTiming[]): NodeTiming[] {
  return nodes.slice(0, MAX_GRAPH_NODES).map((node) => ({
    ...node,
    nodeId: beginningOf(node.nodeId, GRAPH_NAME_LENGTH),
    classType: beginningOf(node.classType, GRAPH_NAME_LENGTH),
  }));
}

/**
 * The end of a log, `maxBytes` of its UTF-8 at most. A character is never cut in two.
 *
 * @param log truncated already where something before its text was left out.
 */
export function logTail({ text, truncated }: JobLog, maxBytes: number): JobLog {
  // No character of a string takes more than three bytes for each of its units.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return { text, truncated };
  // A unit takes at least a byte: what is before these is left out in any case.
  const bytes = Buffer.from(maxBytes === 0 ? '' : text.slice(-maxBytes));
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return { text: bytes.subarray(start).toString('utf8'), truncated: true };
}
