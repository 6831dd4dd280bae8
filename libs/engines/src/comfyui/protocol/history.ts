import { listOf, objectOf, textOf, typedMessage, type NodeOutput, type ServerMessage } from './messages';

/** What ComfyUI remembers of a prompt that ended. */
export interface HistoryEntry {
  /** In the order in which they happened. */
  messages: ServerMessage[];
  completed: boolean;
  /** Every output that it knows of, those of cached nodes included; `displayNode` is the node of the posted graph. */
  outputs: { source: string; displayNode: string | null; output: NodeOutput }[];
}

/** Reads the answer of `GET /history/{id}`: the entry, or null while there is none. */
export function readHistory(answer: unknown, promptId: string): HistoryEntry | null {
  const entry = objectOf(objectOf(answer)?.[promptId]);
  if (!entry) return null;
  const status = objectOf(entry['status']);
  const meta = objectOf(entry['meta']);
  return {
    messages: listOf(status?.['messages']).map(readPair),
    completed: status?.['completed'] === true,
    outputs: Object.entries(objectOf(entry['outputs']) ?? {}).map(([source, output]) => ({
      source,
      displayNode: textOf(objectOf(meta?.[source])?.['display_node']),
      output: objectOf(output) ?? {},
    })),
  };
}

function readPair(pair: unknown): ServerMessage {
  const [type, data] = listOf(pair);
  return typedMessage(type, objectOf(data) ?? {});
}
