/**
 * A JSON value and its place in the text: `start` inclusive, `end` exclusive, in UTF-16 code units. Numbers keep their
 * digits (`raw`), objects their order and their duplicates, so that nothing the author wrote is lost.
 */
export type JsonNode =
  | { kind: 'object'; start: number; end: number; entries: JsonEntry[] }
  | { kind: 'array'; start: number; end: number; items: JsonNode[] }
  | { kind: 'string'; start: number; end: number; value: string }
  | { kind: 'number'; start: number; end: number; raw: string }
  | { kind: 'boolean'; start: number; end: number; value: boolean }
  | { kind: 'null'; start: number; end: number };

export interface JsonEntry {
  key: string;
  value: JsonNode;
}

/** The value of a key of an object; the last of duplicates, as `JSON.parse` and Python have it. Linear in the object's size. */
export function member(node: JsonNode, key: string): JsonNode | undefined {
  if (node.kind !== 'object') return undefined;
  for (let at = node.entries.length - 1; at >= 0; at -= 1) {
    const entry = node.entries[at];
    if (entry?.key === key) return entry.value;
  }
  return undefined;
}

/** The members that count: of duplicates the last value, at the place of the first, as `JSON.parse` and Python have it. */
export function members(node: JsonNode): Map<string, JsonNode> {
  const last = new Map<string, JsonNode>();
  if (node.kind === 'object') for (const { key, value } of node.entries) last.set(key, value);
  return last;
}

/** The text of a value, exactly as written. `text` is the text that was parsed. */
export function sliceOf(node: JsonNode, text: string): string {
  return text.slice(node.start, node.end);
}
