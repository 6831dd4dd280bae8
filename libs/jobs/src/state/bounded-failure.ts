import { GRAPH_NAME_LENGTH, beginningOf, endOf } from '@millrace/contracts';
import type { JobFailure } from './job';

/** Of a message, in UTF-16 units; of one that is longer its beginning is kept. */
const MESSAGE_LENGTH = 4 * 1_024;
/** Of a traceback, in UTF-16 units; of one that is longer its end is kept, where what was raised stands. */
const TRACEBACK_LENGTH = 16 * 1_024;

/**
 * A failure that is small, however much an engine or a worker put into it: a page shows a hundred of them. Texts are cut between
 * characters, and `…` stands where something is missing; names are cut to what a graph may hold. A bounded failure stays as it is.
 */
export function boundedFailure(failure: JobFailure): JobFailure {
  const { message, node_id: nodeId, class_type: classType, traceback } = failure;
  return {
    ...failure,
    message: beginningOf(message, MESSAGE_LENGTH),
    ...(nodeId && { node_id: beginningOf(nodeId, GRAPH_NAME_LENGTH) }),
    ...(classType && { class_type: beginningOf(classType, GRAPH_NAME_LENGTH) }),
    ...(traceback && { traceback: endOf(traceback, TRACEBACK_LENGTH) }),
  };
}
