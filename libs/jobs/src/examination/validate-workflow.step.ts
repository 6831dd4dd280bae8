import type { NodeCatalogue } from '@millrace/contracts';
import { sortFaults, validateWorkflow, type WorkflowGraph } from '@millrace/workflow';
import { invalidWorkflow, type FaultyGraph } from './faulty-graph';

/**
 * Check a graph against the nodes that its pool can run.
 *
 * @returns names of models that the library of the account must have; with `nodeErrors` where the graph is refused in any case, and only what the
 * library lacks is still to be added.
 * @throws Refusal `invalid_workflow` with every fault there is, by node, where the library has no part in it.
 */
export function validateGraph(
  graph: WorkflowGraph,
  catalogue: NodeCatalogue,
): FaultyGraph | Pick<FaultyGraph, 'unlistedModels'> {
  const nodeErrors = validateWorkflow(graph, catalogue, { assetsOnly: true });
  const { faults, unlistedModels } = sortFaults(nodeErrors, graph, catalogue);
  if (Object.keys(faults).length === 0) return { unlistedModels };
  if (unlistedModels.length === 0) throw invalidWorkflow(faults);
  return { nodeErrors, unlistedModels };
}
