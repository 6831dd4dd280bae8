import { parseTree, type Node, type ParseError } from 'jsonc-parser';
import { ServiceFailure } from '../process';

/** A JSON value and where it stands in its text (offsets in UTF-16 code units). Numbers are read from the text itself. */
export type JsonNode = Node;

/** A member of an object: its key as a string, and both nodes. */
export interface JsonMember {
  key: string;
  keyNode: JsonNode;
  value: JsonNode;
}

/** A text is not JSON; `line` and `column` count from 1. */
export class JsonTextError extends Error {
  constructor(
    readonly line: number,
    readonly column: number,
  ) {
    super(`It is not JSON: line ${line}, column ${column}.`);
  }
}

/**
 * The tree of a JSON text (RFC 8259; no comments, no trailing commas).
 *
 * @throws {JsonTextError}
 */
export function parseJsonText(text: string): JsonNode {
  const errors: ParseError[] = [];
  const root = treeOf(text, errors);
  const [fault] = errors;
  if (root && !fault && isJson(text)) return root;
  const before = text.slice(0, fault?.offset ?? 0).split('\n');
  throw new JsonTextError(before.length, (before.at(-1)?.length ?? 0) + 1);
}

/** Members in order, duplicates included. */
export function membersOf(node: JsonNode): JsonMember[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [keyNode, value] = [] }) =>
    keyNode && value ? [{ key: String(keyNode.value), keyNode, value }] : [],
  );
}

/** The member that counts: the last of duplicates, as other JSON readers take it. */
export function memberOf(node: JsonNode, key: string): JsonMember | undefined {
  return membersOf(node).findLast((member) => member.key === key);
}

/** The text of a value, exactly as written. */
export function textOf(node: JsonNode, text: string): string {
  return text.slice(node.offset, node.offset + node.length);
}

/**
 * The text of one member of an answer, digit for digit.
 *
 * @throws {ServiceFailure} when the answer has no such member.
 */
export function memberText(answer: string, key: string): string {
  const root = treeOf(answer, []);
  const member = root && isJson(answer) ? memberOf(root, key) : undefined;
  if (member) return textOf(member.value, answer);
  throw new ServiceFailure(`The service's answer has no ${key}.`, { code: 'unexpected_answer' });
}

/** The parser recurses once per level; a text that is nested deeper than the stack counts as not JSON. */
function treeOf(text: string, errors: ParseError[]): JsonNode | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
