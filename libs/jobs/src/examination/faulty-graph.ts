import { Refusal, type NodeError, type NodeErrors } from '@millrace/contracts';
import type { UnlistedModel } from '@millrace/workflow';

/** A graph that is refused in any case: for what, the library of its account decides a part. Plain data: it may come from another thread. */
export interface FaultyGraph {
  /** By node, with the models that no engine's list has. */
  nodeErrors: NodeErrors;
  /** Those models: each is a fault only where the library has none of its name. */
  unlistedModels: UnlistedModel[];
}

/** Which of these names of models the library of an account has. */
export type KnownModels = (names: readonly string[]) => Promise<ReadonlySet<string>>;

export function isFaulty<Examined extends object>(examined: Examined | FaultyGraph): examined is FaultyGraph {
  return 'nodeErrors' in examined;
}

/** The names of models that these graphs name, each once. */
export function unlistedNames(graphs: readonly Pick<FaultyGraph, 'unlistedModels'>[]): string[] {
  return [...new Set(graphs.flatMap(({ unlistedModels }) => unlistedModels.map(({ name }) => name)))];
}

/**
 * `invalid_workflow` with every fault of a graph in the order in which they were found (wire supplement, section 2).
 *
 * @param known names of models that the library has.
 */
export function refusalOfGraph({ nodeErrors, unlistedModels }: FaultyGraph, known: ReadonlySet<string>): Refusal {
  const names = new Map(unlistedModels.map(({ nodeId, name, error }) => [keyOf(nodeId, error), name]));
  const faults = Object.entries(nodeErrors).map(([nodeId, errors]): [string, NodeError[]] => {
    const left = errors.flatMap((error) => {
      const name = names.get(keyOf(nodeId, error));
      if (name === undefined) return [error];
      return known.has(name) ? [] : [lackedByLibrary(error)];
    });
    return [nodeId, left];
  });
  return invalidWorkflow(Object.fromEntries(faults.filter(([, errors]) => errors.length > 0)));
}

/** `invalid_workflow` for models that neither an engine's list nor the library has. */
export function refusalOfModels(lacking: readonly UnlistedModel[]): Refusal {
  const byNode = new Map<string, NodeError[]>();
  for (const { nodeId, error } of lacking) {
    byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), lackedByLibrary(error)]);
  }
  return invalidWorkflow(Object.fromEntries(byNode));
}

/** `invalid_workflow` with these faults. */
export function invalidWorkflow(nodeErrors: NodeErrors): Refusal {
  const faults = Object.entries(nodeErrors).flatMap(([nodeId, errors]) =>
    errors.map((error) => (nodeId === '' ? error.message : `Node ${nodeId}: ${error.message}`)),
  );
  const more = faults.length > 3 ? ` And ${faults.length - 3} more.` : '';
  return new Refusal('invalid_workflow', `The workflow cannot be run. ${faults.slice(0, 3).join(' ')}${more}`, {
    details: { node_errors: nodeErrors },
  });
}

/** Says where else the model was looked for. */
function lackedByLibrary(error: NodeError): NodeError {
  return { ...error, message: `${error.message} The model library has none of this name either.` };
}

/** An input has one such fault at most. */
function keyOf(nodeId: string, { field, reason }: NodeError): string {
  return JSON.stringify([nodeId, field, reason]);
}
