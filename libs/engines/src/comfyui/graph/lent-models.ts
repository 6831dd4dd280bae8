import type { InputSpec, NodeClass } from '@millrace/contracts';
import { isModelFile, linkOf, modelFilesOfNode, type GraphNode, type JsonNode } from '@millrace/workflow';
import { givesModel, isModelType } from './cache-salt';

/** The models that were lent to a run: ComfyUI finds them by name beside the operator's, and others find others there, or none. */
export class LentModels {
  private readonly bareNames: ReadonlySet<string>;
  /** What distinguishes them all, in no order. */
  private readonly all: string;

  /** @param models by name, with what distinguishes their contents */
  constructor(private readonly models: ReadonlyMap<string, string>) {
    this.bareNames = new Set([...models.keys()].map(bareNameOf));
    this.all = JSON.stringify([...models].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /**
   * What distinguishes the contents of those that a node may load; empty for none. A node that gives a model may load any of them: by a
   * tag in a text, by a name without its ending, or by its place in a list. Only one that names its files as its class lists them
   * loads just these. Other nodes are known by the names that they have: their results are kept apart by scope in any case.
   */
  mayLoad(node: GraphNode, nodeClass: NodeClass): string {
    if (this.models.size === 0) return '';
    if (givesModel(nodeClass) && !this.namesItsFiles(node, nodeClass)) return this.all;
    return modelFilesOfNode(node)
      .flatMap((name) => this.models.get(name) ?? [])
      .join(' ');
  }

  private namesItsFiles(node: GraphNode, nodeClass: NodeClass): boolean {
    let namesOne = false;
    for (const [name, value] of node.inputs) {
      const spec = Object.hasOwn(nodeClass.inputs, name) ? nodeClass.inputs[name] : undefined;
      // Not passed to the node.
      if (spec === undefined && !nodeClass.acceptsUnknownInputs) continue;
      if (!this.isPlain(value, spec)) return false;
      namesOne ||= value.kind === 'string' && isModelFile(value.value);
    }
    return namesOne;
  }

  /** Whether an input can name a lent model in no other way than by the name that it has. */
  private isPlain(value: JsonNode, spec: InputSpec | undefined): boolean {
    if (spec === undefined) return false;
    if (linkOf(value) !== null) return spec.type.split(',').every(isModelType);
    if (value.kind !== 'string') return value.kind === 'number' || value.kind === 'boolean';
    const isChoice = spec.type === 'COMBO';
    return isChoice && (this.models.has(value.value) || !this.bareNames.has(bareNameOf(value.value)));
  }
}

/** Without its folder and its ending, in small letters. */
function bareNameOf(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1);
  return (isModelFile(file) ? file.slice(0, file.lastIndexOf('.')) : file).toLowerCase();
}
