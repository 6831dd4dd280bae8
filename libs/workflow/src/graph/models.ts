import type { NodeCatalogue, NodeClass } from '@millrace/contracts';
import { classOf } from './catalogue';
import { neededNodes } from './dependencies';
import type { GraphNode, WorkflowGraph } from './workflow';

const MODEL_FILE = /^[^\0\p{Cs}]{1,240}\.(?:safetensors|sft|ckpt|pt|pth|bin|gguf|onnx)$/iu;
/** Small beside what they are laid over, and different from job to job where that is the same. */
const ADAPTER_INPUT = /lora/i;
const MOST = 16;

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

function namedModels(node: GraphNode, nodeClass: NodeClass): { input: string; name: string }[] {
  const named: { input: string; name: string }[] = [];
  for (const [input, value] of node.inputs) {
    const spec = Object.hasOwn(nodeClass.inputs, input) ? nodeClass.inputs[input] : undefined;
    if (spec?.type === 'COMBO' && !spec.file && value.kind === 'string' && MODEL_FILE.test(value.value)) {
      named.push({ input, name: value.value });
    }
  }
  return named;
}
