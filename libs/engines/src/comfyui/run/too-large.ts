import type { EngineFailure } from '../../engine';
import { inMib, MAX_MESSAGE_BYTES, MAX_TEXT_BYTES } from '../protocol';

const MESSAGE =
  `The run sent more than a worker takes: ${inMib(MAX_TEXT_BYTES)} of text in all that its nodes report, and ${inMib(MAX_MESSAGE_BYTES)} in a ` +
  'picture that is sent and not saved. Save what is large to files.';

/**
 * The failure of a run whose nodes sent more than is taken: the graph's doing, which another attempt would repeat.
 *
 * @param nodeId of the submitted graph; null where several nodes may have had a part in it
 */
export function tooLargeFailure(nodeId: string | null, classes: ReadonlyMap<string, string>): EngineFailure {
  return {
    code: nodeId === null ? 'engine_error' : 'node_execution_error',
    message: MESSAGE,
    nodeId,
    classType: nodeId === null ? null : (classes.get(nodeId) ?? null),
    traceback: null,
  };
}
