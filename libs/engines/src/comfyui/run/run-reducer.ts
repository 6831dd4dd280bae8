import type { Frame, HistoryEntry, ServerMessage } from '../protocol';
import { PICTURE_OUTPUT_CLASSES, submittedNode, type Reduction, type RunState, type Terminal } from './run-state';
import { StateChange } from './state-change';

/** One text message. Those of other prompts change nothing; nothing changes after the end. */
export function onMessage(state: RunState, message: ServerMessage): Reduction {
  if (state.ended || !concerns(state, message)) return { state, signals: [] };
  const change = new StateChange(state);
  switch (message.type) {
    case 'execution_start':
      change.start();
      break;
    case 'execution_cached':
      change.skip(message.nodes);
      break;
    case 'executing':
      if (message.node === null) change.end();
      else change.execute(message.node, message.displayNode);
      break;
    case 'progress':
      change.advance(message.node, message.value, message.max);
      break;
    case 'progress_state':
      change.keepProgress(message.text);
      break;
    case 'executed':
      change.report(message.node, message.displayNode, message.output);
      break;
    case 'execution_success':
      change.succeed();
      break;
    case 'execution_error':
      change.fail(message.error);
      break;
    case 'execution_interrupted':
      change.settle({ status: 'interrupted' });
      break;
    default:
      break;
  }
  return change.reduction();
}

/** One binary message. A picture that names no node belongs to the node that began last. */
export function onFrame(state: RunState, frame: Frame): Reduction {
  const unchanged = { state, signals: [] };
  if (state.ended || frame.kind !== 'picture') return unchanged;
  if (frame.promptId === null ? !state.started : frame.promptId !== state.graph.promptId) return unchanged;
  const nodeId = submittedNode(state, frame.nodeId ?? state.current, frame.displayNodeId);
  if (nodeId === null) return unchanged;
  const { contentType, data } = frame;
  const isOutput = PICTURE_OUTPUT_CLASSES.has(state.graph.classes.get(nodeId) ?? '');
  return { state, signals: [{ type: isOutput ? 'picture_output' : 'preview', nodeId, contentType, data }] };
}

/** The history entry has what was missed in the messages while the connection was lost. */
export function onHistory(state: RunState, entry: HistoryEntry): Reduction {
  const change = new StateChange({ ...state, ended: false });
  change.start();
  for (const message of entry.messages) if (message.type === 'execution_cached') change.skip(message.nodes);
  for (const { source, displayNode, output } of entry.outputs) change.report(source, displayNode, output);
  const terminal = terminalOf(entry);
  if (terminal?.status === 'succeeded') change.succeed();
  else if (terminal) change.settle(terminal);
  change.end();
  return change.reduction();
}

/**
 * How a prompt ended, by the messages of its history entry. `status_str` is no guide: a cycle that only shows at run time
 * is reported as a success with an `execution_error`.
 */
function terminalOf({ messages, completed }: HistoryEntry): Terminal | null {
  if (messages.at(-1)?.type === 'execution_success') return { status: 'succeeded' };
  if (messages.some(({ type }) => type === 'execution_interrupted')) return { status: 'interrupted' };
  const failure = messages.findLast((message) => message.type === 'execution_error');
  if (failure) return { status: 'failed', error: failure.error };
  return completed ? { status: 'succeeded' } : null;
}

function concerns(state: RunState, message: ServerMessage): boolean {
  if (message.type === 'progress_state') return true;
  if (message.type === 'other' || message.type === 'logs') return false;
  if (message.promptId !== null) return message.promptId === state.graph.promptId;
  // Sent to a socket that reconnects while a prompt of its own runs.
  return message.type === 'executing' && message.node !== null;
}
