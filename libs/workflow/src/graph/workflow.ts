import { member, members, type JsonNode, parseJson, type JsonLimits } from '../json';

/** A graph in API format, over the text it was written in. */
export interface WorkflowGraph {
  /** The graph itself: the whole document, or a member of a larger one. */
  root: JsonNode;
  /** The whole text that every offset under `root` refers to. */
  text: string;
  /**
   * The nodes of sound shape, in text order: an object with a string `class_type` and an object `inputs`. Others are left
   * out here and reported by `validateWorkflow`.
   */
  nodes: ReadonlyMap<string, GraphNode>;
}

export interface GraphNode {
  id: string;
  classType: string;
  inputs: ReadonlyMap<string, JsonNode>;
}

/** "The value of output `slot` of node `nodeId`." */
export type Link = { nodeId: string; slot: number };

/** The link that a value is, or null: a list of two, a node id as a string and an output slot as a whole number from 0. */
export function linkOf(value: JsonNode): Link | null {
  if (value.kind !== 'array' || value.items.length !== 2) return null;
  const [nodeId, slot] = value.items;
  if (nodeId?.kind !== 'string' || slot?.kind !== 'number') return null;
  if (!SLOT.test(slot.raw)) return null;
  return { nodeId: nodeId.value, slot: Math.abs(Number(slot.raw)) };
}

/** A whole number as Python reads one (`1.0` is a float there and indexes nothing), few enough digits to be exact. */
const SLOT = /^(?:-?0|[1-9]\d{0,8})$/;

/** The value that an engine sees: `{"__value__": x}` stands for x, so that a list of two can be a value and not a link. */
export function unwrapped(value: JsonNode): JsonNode {
  return member(value, '__value__') ?? value;
}

/** True for an export of the editor (wire supplement, section 4), which is not a graph that can be run. */
export function isUiFormat(node: JsonNode): boolean {
  return member(node, 'nodes')?.kind === 'array' && member(node, 'links')?.kind === 'array';
}

/**
 * The graph that a part of a parsed document is, without parsing again: `workflowOf(member(body, 'workflow'), bodyText)`.
 * Never throws: what is unsound is left out of `nodes` (see there).
 */
export function workflowOf(root: JsonNode, text: string): WorkflowGraph {
  const nodes = new Map<string, GraphNode>();
  for (const [id, value] of members(root)) {
    const node = nodeOf(id, value);
    if (node) nodes.set(id, node);
  }
  return { root, text, nodes };
}

function nodeOf(id: string, value: JsonNode): GraphNode | null {
  const classType = member(value, 'class_type');
  const inputs = member(value, 'inputs');
  if (classType?.kind !== 'string' || inputs?.kind !== 'object') return null;
  return { id, classType: classType.value, inputs: members(inputs) };
}

/**
 * Reads the text of a graph.
 *
 * @throws {JsonSyntaxError} when the text is not JSON, or passes `limits`
 */
export function parseWorkflow(text: string, limits?: JsonLimits): WorkflowGraph {
  return workflowOf(parseJson(text, limits), text);
}
