import { findNodeAtLocation, getNodeValue, parseTree, type Node } from 'jsonc-parser';

/** Where an input takes its value from: an output slot of another node. */
export interface Link {
  nodeId: string;
  slot: number;
}

/** An input of a node: a link, or a value as JSON text. Numbers stay text: seeds have 64 bits, a double has 53. */
interface GraphInput {
  name: string;
  link: Link | null;
  json: string;
}

export interface GraphNode {
  id: string;
  classType: string;
  /** What the author called it, else null. */
  title: string | null;
  inputs: GraphInput[];
}

/** Why a text is no graph that can be submitted. */
export type GraphFault = 'not_json' | 'not_an_object' | 'ui_format' | 'empty';

type ReadGraph = { nodes: GraphNode[] } | { fault: GraphFault };

/** Read a graph in API format. Entries that are no nodes are left out; the API names them when the graph is submitted. */
export function readGraph(text: string): ReadGraph {
  const root = parseTree(text, [], { disallowComments: true });
  if (root === undefined || !isJson(text)) return { fault: 'not_json' };
  if (root.type !== 'object') return { fault: 'not_an_object' };
  // What the editor saves (wire supplement, section 2).
  if (child(root, 'nodes')?.type === 'array' && child(root, 'links')?.type === 'array') return { fault: 'ui_format' };
  const nodes = entriesOf(root).flatMap(([id, value]) => readNode(text, id, value));
  return nodes.length === 0 ? { fault: 'empty' } : { nodes };
}

/** The graph inside the answer of a job's workflow, or of a body that someone pasted: its own text, not a parsed copy. */
export function graphTextOf(text: string): string {
  const root = parseTree(text);
  const workflow = root === undefined ? undefined : (child(root, 'workflow') ?? child(root, 'prompt'));
  return workflow?.type === 'object' && child(workflow, 'class_type') === undefined ? slice(text, workflow) : text;
}

/** The same text with another value at an input. No other character changes. */
export function withInput(text: string, nodeId: string, input: string, json: string): string {
  const root = parseTree(text);
  const inputs = root && findNodeAtLocation(root, [nodeId, 'inputs']);
  if (inputs === undefined) return text;
  const value = child(inputs, input);
  if (value !== undefined) return text.slice(0, value.offset) + json + text.slice(value.offset + value.length);
  const rest = (inputs.children ?? []).length > 0 ? ', ' : '';
  const at = inputs.offset + 1;
  return `${text.slice(0, at)}${JSON.stringify(input)}: ${json}${rest}${text.slice(at)}`;
}

function readNode(text: string, id: string, value: Node): GraphNode[] {
  const classType = child(value, 'class_type');
  if (classType?.type !== 'string') return [];
  const title = findNodeAtLocation(value, ['_meta', 'title']);
  const inputs = child(value, 'inputs');
  return [
    {
      id,
      classType: String(classType.value),
      title: title?.type === 'string' && title.value !== classType.value ? String(title.value) : null,
      inputs: inputs?.type !== 'object' ? [] : entriesOf(inputs).map(([name, node]) => readInput(text, name, node)),
    },
  ];
}

function readInput(text: string, name: string, node: Node): GraphInput {
  const [from, slot] = node.type === 'array' ? (node.children ?? []) : [];
  const link =
    node.children?.length === 2 && from?.type === 'string' && slot?.type === 'number'
      ? { nodeId: String(from.value), slot: Number(slot.value) }
      : null;
  return { name, link, json: slice(text, node) };
}

function entriesOf(object: Node): [string, Node][] {
  return (object.children ?? []).flatMap(({ children = [] }): [string, Node][] => {
    const [key, value] = children;
    return key === undefined || value === undefined ? [] : [[String(getNodeValue(key)), value]];
  });
}

const child = (node: Node, key: string): Node | undefined =>
  node.type === 'object' ? findNodeAtLocation(node, [key]) : undefined;
const slice = (text: string, { offset, length }: Node): string => text.slice(offset, offset + length);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
