import type { NodeCatalogue, NodeClass } from '@millrace/contracts';
import { members, type JsonNode } from '../json';
import { assetObjectOf, isAssetObject } from './asset-object';
import { classOf, inputOf } from './catalogue';
import { linkOf, type WorkflowGraph } from './workflow';

/** Stands for a file in the canonical text. No JSON text has it outside a string. */
const FILE = '@';

/** A graph as it counts when two are compared: nothing of it left out. */
export interface ExactGraph {
  /**
   * Its canonical text in pieces: keys sorted, of duplicates the last one, no spaces, strings as `JSON.stringify` writes them, numbers
   * with the digits they were written with (`1` and `1.0` differ in Python). An asset at an input that takes a file is `@`.
   */
  text: string[];
  /** The assets for which an `@` stands, in the order of the text; each as often as it is named. */
  assetIds: string[];
}

/** What a graph asks for, to the last character, or why no earlier outputs can stand for it. Plain data: it crosses threads. */
export type ExactWork =
  | {
      /** SHA-256 of the canonical text, as hex. */
      digest: string;
      /** Assets that count by their content, in the order of the text; see `ExactGraph`. */
      assetIds: string[];
    }
  | { reason: string };

/** The whole graph, seeds and texts and titles included: two with equal texts whose files are equal ask for exactly the same. */
export function exactGraph(graph: WorkflowGraph, catalogue: NodeCatalogue): ExactGraph {
  const exact: ExactGraph = { text: [], assetIds: [] };
  writeObject(graph.root, exact, (id, node) => {
    const classType = graph.nodes.get(id)?.classType;
    writeNode(node, classType === undefined ? undefined : classOf(catalogue, classType), exact);
  });
  return exact;
}

/** Class names of the graph's nodes that are not declared to make equal outputs of equal inputs, each once, sorted. */
export function undeclaredClasses({ nodes }: WorkflowGraph, catalogue: NodeCatalogue): string[] {
  const names = [...nodes.values()].map(({ classType }) => classType);
  return [...new Set(names)].filter((name) => classOf(catalogue, name)?.deterministic !== true).sort();
}

function writeNode(node: JsonNode, nodeClass: NodeClass | undefined, exact: ExactGraph): void {
  writeObject(node, exact, (key, value) => {
    if (key !== 'inputs') writeValue(value, false, exact);
    else writeObject(value, exact, (name, input) => writeInput(name, input, nodeClass, exact));
  });
}

function writeInput(name: string, value: JsonNode, nodeClass: NodeClass | undefined, exact: ExactGraph): void {
  const takesFile = nodeClass !== undefined && inputOf(nodeClass, name)?.file !== undefined;
  const link = linkOf(value);
  if (link === null) writeValue(value, takesFile, exact);
  else exact.text.push(JSON.stringify([link.nodeId, link.slot]));
}

/** @param asFile an asset counts by its content; where a node takes no file it sees the name of the asset. */
function writeValue(value: JsonNode, asFile: boolean, exact: ExactGraph): void {
  switch (value.kind) {
    case 'object':
      if (asFile && writeFile(value, exact)) return;
      return writeObject(value, exact, (_, inner) => writeValue(inner, asFile, exact));
    case 'array':
      exact.text.push('[');
      for (const item of value.items) {
        writeValue(item, asFile, exact);
        exact.text.push(',');
      }
      exact.text.push(']');
      return;
    case 'string':
      exact.text.push(JSON.stringify(value.value));
      return;
    case 'number':
      exact.text.push(value.raw);
      return;
    case 'boolean':
      exact.text.push(String(value.value));
      return;
    case 'null':
      exact.text.push('null');
  }
}

function writeFile(value: JsonNode, exact: ExactGraph): boolean {
  const id = isAssetObject(value) ? assetObjectOf(value).id : null;
  if (id === null) return false;
  exact.text.push(FILE);
  exact.assetIds.push(id);
  return true;
}

/** The members in the order of their keys; what is no object, as a value. */
function writeObject(node: JsonNode, exact: ExactGraph, write: (key: string, value: JsonNode) => void): void {
  if (node.kind !== 'object') return writeValue(node, false, exact);
  exact.text.push('{');
  for (const [key, value] of [...members(node)].sort(byKey)) {
    exact.text.push(JSON.stringify(key), ':');
    write(key, value);
    exact.text.push(',');
  }
  exact.text.push('}');
}

function byKey([one]: [string, JsonNode], [other]: [string, JsonNode]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
