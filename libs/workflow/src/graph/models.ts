import type { NodeCatalogue, NodeClass } from '@millrace/contracts';
import { classOf } from './catalogue';
import { neededNodes } from './dependencies';
import type { JsonNode } from '../json';
import type { GraphNode, WorkflowGraph } from './workflow';

const MODEL_FILE = /^[^\0\p{Cs}]{1,240}\.(?:safetensors|sft|ckpt|pt|pth|bin|gguf|onnx)$/iu;
/** Small beside what they are laid over, and different from job to job where that is the same. */
const ADAPTER_INPUT = /lora/i;
const MOST = 16;
/** More than any graph loads; each costs a look into the library. */
const MOST_FILES = 200;

/** The model files that a node's literals name: options of a list that are files of weights. */
export function modelNames(node: GraphNode, nodeClass: NodeClass): string[] {
  return namedModels(node, nodeClass).map(({ name }) => name);
}

/**
 * The models whose loading makes a run of the graph wait, each once, in text order, at most 16: what its loader nodes name,
 * adapters left out. Nodes that no output needs load nothing.
 */
export function modelsOf(graph: WorkflowGraph, catalogue: NodeCatalogue): string[] {
  const named: { nodeId: string; name: string }[] = [];
  for (const node of graph.nodes.values()) {
    const nodeClass = classOf(catalogue, node.classType);
    for (const { input, name } of nodeClass ? namedModels(node, nodeClass) : []) {
      if (!ADAPTER_INPUT.test(input)) named.push({ nodeId: node.id, name });
    }
  }
  if (named.length === 0) return [];
  const needed = neededNodes(graph, catalogue);
  return [...new Set(named.filter(({ nodeId }) => needed.has(nodeId)).map(({ name }) => name))].slice(0, MOST);
}

/**
 * Every text of the nodes that a run computes which is a name of a file of weights, with the first node that has it: at any depth, adapters
 * too, and where no class is known to take it. Which of them are models is for a library to say.
 */
export function modelFilesIn(graph: WorkflowGraph, catalogue: NodeCatalogue): Map<string, string> {
  const files = new Map<string, string>();
  const needed = neededNodes(graph, catalogue);
  for (const node of graph.nodes.values()) {
    if (!needed.has(node.id)) continue;
    for (const name of modelFilesOfNode(node)) {
      if (files.size < MOST_FILES && !files.has(name)) files.set(name, node.id);
    }
  }
  return files;
}

/** Whether a text is a name of a file of weights. */
export function isModelFile(text: string): boolean {
  return MODEL_FILE.test(text);
}

/** The texts of one node's inputs that are names of files of weights, each once. */
export function modelFilesOfNode(node: GraphNode): string[] {
  return [...new Set([...node.inputs.values()].flatMap(textsIn).filter(isModelFile))];
}

function textsIn(value: JsonNode): string[] {
  if (value.kind === 'string') return [value.value];
  if (value.kind === 'array') return value.items.flatMap(textsIn);
  return value.kind === 'object' ? value.entries.flatMap((entry) => textsIn(entry.value)) : [];
}

function namedModels(node: GraphNode, nodeClass: NodeClass): { input: string; name: string }[] {
  const named: { input: string; name: string }[] = [];
  for (const [input, value] of node.inputs) {
    const spec = Object.hasOwn(nodeClass.inputs, input) ? nodeClass.inputs[input] : undefined;
    if (spec?.type === 'COMBO' && !spec.file && value.kind === 'string' && isModelFile(value.value)) {
      named.push({ input, name: value.value });
    }
  }
  return named;
}
