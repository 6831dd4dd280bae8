import type { NodeCatalogue, NodeError, NodeErrors } from '@millrace/contracts';
import { classOf, inputOf, isModelFile, unwrapped, type WorkflowGraph } from '../graph';

/** A model that a node names and its engine's list lacks, where the library of an account may have it. */
export interface UnlistedModel {
  nodeId: string;
  name: string;
  /** What is wrong where the library lacks it, too. */
  error: NodeError;
}

/** Faults of a graph, and what is one only if a library lacks it. */
export interface SortedFaults {
  faults: NodeErrors;
  unlistedModels: UnlistedModel[];
}

/** Set names of models aside that are in no list of the catalogue, where a library may have them: the rest is wrong in any case. */
export function sortFaults(nodeErrors: NodeErrors, graph: WorkflowGraph, catalogue: NodeCatalogue): SortedFaults {
  const unlistedModels: UnlistedModel[] = [];
  const faults = Object.entries(nodeErrors).flatMap(([nodeId, errors]): [string, NodeError[]][] => {
    const left = errors.filter((error) => {
      const name = error.reason === 'not_in_list' ? libraryName(graph, catalogue, nodeId, error.field) : null;
      if (name !== null) unlistedModels.push({ nodeId, name, error });
      return name === null;
    });
    return left.length === 0 ? [] : [[nodeId, left]];
  });
  return { faults: Object.fromEntries(faults), unlistedModels };
}

/** Whether a node names a model that a library may have: then what it loads can change under the same name. */
export function mayLoadFromLibrary(graph: WorkflowGraph, catalogue: NodeCatalogue): boolean {
  return [...graph.nodes.values()].some((node) =>
    [...node.inputs.keys()].some((field) => libraryName(graph, catalogue, node.id, field) !== null),
  );
}

function libraryName(graph: WorkflowGraph, catalogue: NodeCatalogue, nodeId: string, field: string): string | null {
  const node = graph.nodes.get(nodeId);
  const nodeClass = node && classOf(catalogue, node.classType);
  const value = node?.inputs.get(field);
  if (!nodeClass || value === undefined || inputOf(nodeClass, field)?.libraryModels !== true) return null;
  const literal = unwrapped(value);
  return literal.kind === 'string' && isModelFile(literal.value) ? literal.value : null;
}
