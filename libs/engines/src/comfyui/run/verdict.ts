import type { EngineFailure } from '../../engine';
import type { NodeError } from '../protocol';
import { diskFaultOfNode } from './disk-fault';
import { gpuAdvice, gpuFaultOf } from './gpu-fault';
import type { RunState } from './run-state';
import { beginningToScrub, endToScrub } from './scrub';

/** How a run ended, as far as its messages and its history entry show. */
export type Verdict =
  | { status: 'succeeded' }
  | { status: 'interrupted' }
  | { status: 'failed'; failure: EngineFailure }
  /** The GPU broke down: another attempt may succeed. */
  | { status: 'broken'; reason: string }
  /** The disk did not take what the node wrote: another machine's may. */
  | { status: 'disk_failed'; reason: string }
  | { status: 'unknown' };

/** A traceback beyond this is cut at its head: what was raised stands at its end. */
const MAX_TRACEBACK_LENGTH = 16 * 1024;
/** Of what ComfyUI says in a sentence. */
const MAX_MESSAGE_LENGTH = 4 * 1024;

/**
 * Decides how a run ended. A node that was blocked with a message fails the run although ComfyUI calls it a success; one
 * that was blocked silently is how a graph switches a branch off, and does not.
 *
 * @param scrub removes what must not leave the machine from a text: paths, secrets
 */
export function verdictOf(state: RunState, scrub: (text: string) => string): Verdict {
  const { terminal, blocked, graph } = state;
  const failed = (error: NodeError): Verdict => {
    if (gpuFaultOf(error) === 'gpu_broken') return { status: 'broken', reason: brokenReason(error, scrub) };
    const diskFault = diskFaultOfNode(error);
    return diskFault === null
      ? { status: 'failed', failure: failureOf(error, graph.classes, scrub) }
      : { status: 'disk_failed', reason: diskFault };
  };
  if (terminal === null) return { status: 'unknown' };
  if (terminal.status === 'failed') return failed(terminal.error);
  if (terminal.status === 'succeeded' && blocked !== null) return failed(blocked);
  return { status: terminal.status };
}

/** What ComfyUI says of a failure, as it may leave the machine: scrubbed, and cut where it is too long. */
export function boundedMessage(message: string, scrub: (text: string) => string): string {
  return scrub(beginningToScrub(message, MAX_MESSAGE_LENGTH)).slice(0, MAX_MESSAGE_LENGTH);
}

/** A node's error in the words of the port: the class is that of the submitted graph. */
function failureOf(
  error: NodeError,
  classes: ReadonlyMap<string, string>,
  scrub: (text: string) => string,
): EngineFailure {
  const { nodeId, exceptionType, traceback } = error;
  const fault = gpuFaultOf(error);
  const said = fault === null || fault === 'gpu_broken' ? error.message : gpuAdvice(fault, error.message);
  return {
    code: nodeId === null ? 'engine_error' : 'node_execution_error',
    message: boundedMessage(said || exceptionType || 'The node failed without saying why.', scrub),
    nodeId,
    classType: nodeId === null ? error.nodeType : (classes.get(nodeId) ?? error.nodeType),
    traceback: traceback.length === 0 ? null : tracebackOf(traceback, `${exceptionType}: ${error.message}`, scrub),
  };
}

function brokenReason({ nodeId, message }: NodeError, scrub: (text: string) => string): string {
  const [what = ''] = boundedMessage(message, scrub).split('\n');
  return `The GPU broke down${nodeId === null ? '' : ` in node ${nodeId}`}: ${what}.`;
}

function tracebackOf(frames: string[], raised: string, scrub: (text: string) => string): string {
  const whole = `Traceback (most recent call last):\n${frames.join('')}${raised}`;
  const end = endToScrub(whole, MAX_TRACEBACK_LENGTH);
  const text = scrub(end);
  return end === whole && text.length <= MAX_TRACEBACK_LENGTH ? text : `…${text.slice(-MAX_TRACEBACK_LENGTH)}`;
}
