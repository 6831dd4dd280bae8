import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import { validateWorkflow, type WorkflowGraph } from '@millrace/workflow';

/**
 * Check a graph against the nodes that its pool can run.
 *
 * @throws Refusal `invalid_workflow` with every fault there is, by node.
 */
export function validateGraph(graph: WorkflowGraph, catalogue: NodeCatalogue): void {
  const nodeErrors = validateWorkflow(graph, catalogue, { assetsOnly: true });
  const faults = Object.entries(nodeErrors).flatMap(([nodeId, errors]) =>
    errors.map((error) => (nodeId === '' ? error.message : `Node ${nodeId}: ${error.message}`)),
  );
  if (faults.length === 0) return;
  const more = faults.length > 3 ? ` And ${faults.length - 3} more.` : '';
  throw new Refusal('invalid_workflow', `The workflow cannot be run. ${faults.slice(0, 3).join(' ')}${more}`, {
    details: { node_errors: nodeErrors },
  });
}
