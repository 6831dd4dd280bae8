import { GRAPH_NAME_LENGTH } from '@millrace/contracts';
import { members, sliceOf, type JsonNode } from '../json';
import type { WorkflowGraph } from './workflow';

/** How the columns of a table make rows: the first values together, then the second ones; or each value with each. */
export const COMBINATIONS = ['zip', 'cross'] as const;
export type Combination = (typeof COMBINATIONS)[number];

/** A node id, a dot and the name of an input, in UTF-16 code units. */
const LONGEST_NAME = GRAPH_NAME_LENGTH + 1 + GRAPH_NAME_LENGTH;

/** The values of one input, of which each row has one. */
export interface TableColumn {
  /** As the table names it: the id of a node, a dot, the name of an input. */
  name: string;
  nodeId: string;
  inputName: string;
  /** The value that stands in the graph as written. */
  place: JsonNode;
  values: JsonNode[];
}

/** What is wrong with a column. */
export interface ColumnFault {
  name: string;
  reason: string;
}

/**
 * The columns of a table of values for a graph: an object of lists, each named after an input that the graph gives a value.
 *
 * @param table a part of the document that the graph is a part of.
 */
export function columnsOf(graph: WorkflowGraph, table: JsonNode): { columns: TableColumn[]; faults: ColumnFault[] } {
  const columns: TableColumn[] = [];
  const faults: ColumnFault[] = [];
  for (const [name, list] of members(table)) {
    if (name.length > LONGEST_NAME) {
      faults.push({ name, reason: TOO_LONG });
      continue;
    }
    const input = inputNamed(graph, name);
    if (input === null) {
      faults.push({ name, reason: 'must be "node id.input name" of an input that the workflow gives a value' });
    } else if (list.kind !== 'array' || list.items.length === 0) {
      faults.push({ name, reason: 'must be a list of at least one value' });
    } else columns.push({ name, ...input, values: list.items });
  }
  return { columns, faults };
}

const TOO_LONG = `is longer than the id of a node and the name of an input may be: ${LONGEST_NAME} characters`;

/**
 * Ids of nodes and names of inputs may contain dots: the first split that names an input counts. Each costs as much as the id before it is
 * long, so none is tried of which that is longer than an id may be.
 */
function inputNamed(graph: WorkflowGraph, name: string): Omit<TableColumn, 'name' | 'values'> | null {
  for (let dot = name.indexOf('.'); dot !== -1 && dot <= GRAPH_NAME_LENGTH; dot = name.indexOf('.', dot + 1)) {
    const [nodeId, inputName] = [name.slice(0, dot), name.slice(dot + 1)];
    const place = graph.nodes.get(nodeId)?.inputs.get(inputName);
    if (place !== undefined) return { nodeId, inputName, place };
  }
  return null;
}

/** Rows that the columns make; null where they are to be zipped and differ in length. */
export function rowCount(columns: readonly TableColumn[], combination: Combination): number | null {
  const lengths = columns.map(({ values }) => values.length);
  if (combination === 'cross') return lengths.reduce((product, length) => product * length, 1);
  const [first = 1] = lengths;
  return lengths.every((length) => length === first) ? first : null;
}

/** Which value of each column a row has. Of crossed columns the last changes fastest. */
export function rowAt(columns: readonly TableColumn[], combination: Combination, row: number): number[] {
  if (combination === 'zip') return columns.map(() => row);
  const at: number[] = [];
  let rest = row;
  for (let column = columns.length - 1; column >= 0; column -= 1) {
    const { length } = columns[column]?.values ?? [];
    at[column] = rest % length;
    rest = Math.floor(rest / length);
  }
  return at;
}

/** The graph with the values of a row. Its places still refer to the one text: `sliceOf` of its root is the graph as written. */
export function graphOfRow(
  graph: WorkflowGraph,
  columns: readonly TableColumn[],
  row: readonly number[],
): WorkflowGraph {
  const nodes = new Map(graph.nodes);
  // Of each node that changes, once: a node may have as many inputs as columns.
  const copies = new Map<string, Map<string, JsonNode>>();
  columns.forEach(({ nodeId, inputName, values }, column) => {
    const node = graph.nodes.get(nodeId);
    const value = values[row[column] ?? 0];
    if (node === undefined || value === undefined) return;
    const inputs = copies.get(nodeId) ?? new Map(node.inputs);
    inputs.set(inputName, value);
    copies.set(nodeId, inputs);
    nodes.set(nodeId, { ...node, inputs });
  });
  return { ...graph, nodes };
}

/** The text of a graph around the places of its columns, and the texts that come there. */
export interface GraphTemplate {
  /** One more than there are columns. */
  pieces: string[];
  /** By place in the text. */
  places: { column: number; texts: string[] }[];
}

export function templateOf(graph: WorkflowGraph, columns: readonly TableColumn[]): GraphTemplate {
  const { root, text } = graph;
  const ordered = columns.map((column, at) => ({ ...column, at })).sort((a, b) => a.place.start - b.place.start);
  const pieces: string[] = [];
  let copied = root.start;
  for (const { place } of ordered) {
    pieces.push(text.slice(copied, place.start));
    copied = place.end;
  }
  pieces.push(text.slice(copied, root.end));
  const places = ordered.map(({ at, values }) => ({ column: at, texts: values.map((value) => sliceOf(value, text)) }));
  return { pieces, places };
}

/** The graph of a row as text: every character that is not a value of the table is as written. */
export function textOfRow({ pieces, places }: GraphTemplate, row: readonly number[]): string {
  let text = pieces[0] ?? '';
  places.forEach(({ column, texts }, at) => {
    text += (texts[row[column] ?? 0] ?? '') + (pieces[at + 1] ?? '');
  });
  return text;
}
