import type { NodeClass } from '@millrace/contracts';
import type { GraphNode } from '@millrace/workflow';

const MODEL_FILE = /\.(?:safetensors|sft|ckpt|pt|pth|bin|gguf|onnx)$/i;

/** The model files that a node's literals name: options of a list that are files of weights. */
export function modelNames(node: GraphNode, nodeClass: NodeClass): string[] {
  const names: string[] = [];
  for (const [input, value] of node.inputs) {
    const spec = Object.hasOwn(nodeClass.inputs, input) ? nodeClass.inputs[input] : undefined;
    if (spec?.type === 'COMBO' && !spec.file && value.kind === 'string' && MODEL_FILE.test(value.value)) {
      names.push(value.value);
    }
  }
  return names;
}

/**
 * What ComfyUI holds in memory, as far as its cache policy tells: the models of the last prompt. It has no way to ask.
 */
export class ResidentModels {
  private names: ReadonlySet<string> = new Set();

  /** A run ended: of its nodes, those that ran or were cached hold their models; those of earlier runs may be gone. */
  keep(models: ReadonlyMap<string, string[]>, touched: Iterable<string>): void {
    this.names = new Set([...touched].flatMap((nodeId) => models.get(nodeId) ?? []));
  }

  /** The process was replaced, or told to free its memory. */
  clear(): void {
    this.names = new Set();
  }

  list(): string[] {
    return [...this.names];
  }
}
