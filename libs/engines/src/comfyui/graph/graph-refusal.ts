import type { GraphNode } from '@millrace/workflow';
import type { EngineFailure } from '../../engine';

/** Why a graph is not posted at all. */
export class GraphRefusal extends Error {
  constructor(readonly failure: EngineFailure) {
    super(failure.message);
  }
}

/**
 * @param node the node at fault; absent where the graph as a whole is
 * @param code by default the graph's own fault where a node is at fault, as for a node that fails
 */
export function refusal(
  message: string,
  node?: GraphNode,
  code: EngineFailure['code'] = node ? 'node_execution_error' : 'engine_error',
): GraphRefusal {
  return new GraphRefusal({
    code,
    message,
    nodeId: node?.id ?? null,
    classType: node?.classType ?? null,
    traceback: null,
    isRefused: true,
  });
}
