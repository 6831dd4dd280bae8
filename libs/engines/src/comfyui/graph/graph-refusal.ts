import type { GraphNode } from '@millrace/workflow';
import type { EngineFailure } from '../../engine';

/** Why a graph is not posted at all. */
export class GraphRefusal extends Error {
  constructor(readonly failure: EngineFailure) {
    super(failure.message);
  }
}

/** @param node the node at fault; absent where the graph as a whole is */
export function refusal(message: string, node?: GraphNode, code: EngineFailure['code'] = 'engine_error'): GraphRefusal {
  return new GraphRefusal({
    code,
    message,
    nodeId: node?.id ?? null,
    classType: node?.classType ?? null,
    traceback: null,
  });
}
