import type { EngineFailure, EngineResult } from '@millrace/engines';
import {
  OVERTIME,
  boundedFailure,
  resubmitAdvice,
  type AttemptLoss,
  type JobFailure,
  type ReportedEnding,
  type RoomLack,
} from '@millrace/jobs';
import type { LeaseEnd } from './lease-keeper';
import type { OutputsEnd } from './output-pipeline';

/** How an attempt ended for its worker: with its job, or without an end that this worker may write. */
export type AttemptEnd =
  | { kind: 'finished'; ending: ReportedEnding; failure: JobFailure | null }
  /** The worker drains, or could not begin: another one runs the attempt again, and none is used up. */
  | { kind: 'handed_back' }
  /** The machine has no room for its models: a worker that has runs the attempt again, and none is used up. */
  | { kind: 'no_room'; lack: RoomLack }
  /** The job gets another attempt, if it has any left. */
  | { kind: 'given_up'; loss: Loss }
  /** Another worker may have the attempt by now: nothing more is written. */
  | { kind: 'lease_lost' };

/** How the attempt was lost; its engine time is known when it is reported. */
export type Loss = Pick<AttemptLoss, 'by' | 'reason'>;

/** What the end of an attempt follows from. */
export interface AttemptFacts {
  run: EngineResult;
  /** Why the run was interrupted; null where nothing ended the lease. */
  lease: LeaseEnd | null;
  outputs: OutputsEnd;
  /** Whether the worker has ended its runs because it must go. */
  draining: boolean;
}

/** The end of an attempt whose engine reports a failure, by its code. */
const ENDING_OF_FAILURE: Record<EngineFailure['code'], ReportedEnding> = {
  node_execution_error: 'node_failed',
  engine_error: 'engine_failed',
  input_unavailable: 'input_rejected',
};

/** A node that the engine refused before it began would be refused in every other attempt: no policy has it tried again. Both are billed alike. */
function endingOf({ code, isRefused }: EngineFailure): ReportedEnding {
  return isRefused && code === 'node_execution_error' ? 'engine_failed' : ENDING_OF_FAILURE[code];
}

/** Node ids in messages are cut to this length. */
const SHOWN_ID = 100;

const CREDITS_EXHAUSTED: JobFailure = {
  code: 'credits_exhausted',
  message:
    'The run used up the credits of its account, or all that its submission let it cost, and was stopped. Add credits or raise the ' +
    'limit, and submit the job again.',
};

/**
 * The end of an attempt whose engine has settled. Outputs that landed before a failure or a cancel are kept; what each ending
 * costs is for `@millrace/jobs` to say.
 */
export function endOf({ run, lease, outputs, draining }: AttemptFacts): AttemptEnd {
  if (outputs.status === 'lease_lost' || lease === 'lost') return { kind: 'lease_lost' };
  // It has ended the run as well, unless that had ended before.
  if (outputs.status === 'refused' && run.status !== 'failed') return outputRefused(outputs);
  switch (run.status) {
    case 'lost':
      return endOfLimit(lease) ?? endOfLost(lease, run.reason, draining);
    case 'disk_failed':
      return endOfLimit(lease) ?? givenUp('worker', run.reason);
    case 'interrupted':
      return endOfLimit(lease) ?? endOfInterrupt(lease, outputs, draining);
    case 'failed':
      return finished(endingOf(run.failure), jobFailure(run.failure));
    case 'succeeded':
      return endOfOutputs(outputs) ?? finished('succeeded');
  }
}

/** The end of a run that reached a limit, no matter what became of the engine that had to stop it; null where it reached none. */
function endOfLimit(lease: LeaseEnd | null): AttemptEnd | null {
  if (lease === 'exhausted') return finished('credits_exhausted', CREDITS_EXHAUSTED);
  return lease === 'overtime' ? finished('overtime', OVERTIME) : null;
}

/** Nothing but a drain hands a run back: that costs the job no attempt, so anything that can repeat would repeat for ever. */
function endOfInterrupt(lease: LeaseEnd | null, outputs: OutputsEnd, draining: boolean): AttemptEnd {
  if (lease === 'canceled') return finished('canceled_while_running');
  if (draining) return { kind: 'handed_back' };
  // One output too many has ended the run, and then one before it could not be stored.
  return endOfOutputs(outputs) ?? givenUp('engine', 'the engine ended the run unasked');
}

/** An engine that did not stop within its time for a worker that must go: that is no fault of the run. */
function endOfLost(lease: LeaseEnd | null, reason: string, draining: boolean): AttemptEnd {
  return draining && lease !== 'canceled' ? { kind: 'handed_back' } : givenUp('engine', reason);
}

function givenUp(by: Loss['by'], reason: string): AttemptEnd {
  return { kind: 'given_up', loss: { by, reason } };
}

/** The end of an attempt that ends its job. */
export function finished(ending: ReportedEnding, failure: JobFailure | null = null): AttemptEnd {
  return { kind: 'finished', ending, failure };
}

/** The end of a run of which an output could not be stored; null where all were. */
function endOfOutputs(outputs: OutputsEnd): AttemptEnd | null {
  if (outputs.status === 'failed') return notStored(outputs.reason);
  return outputs.status === 'out_of_reach' ? givenUp('worker', outputs.reason) : null;
}

function notStored(reason: string): AttemptEnd {
  const message = `An output could not be stored: ${reason}. ${resubmitAdvice('output_not_stored')}`;
  return finished('output_not_stored', { code: 'output_storage_error', message });
}

function outputRefused({ nodeId, reason }: { nodeId: string; reason: string }): AttemptEnd {
  const message = `An output of node ${nodeId.slice(0, SHOWN_ID)} could not be kept: ${reason}.`;
  return finished('output_refused', { code: 'node_execution_error', message, node_id: nodeId });
}

function jobFailure({ code, message, nodeId, classType, traceback }: EngineFailure): JobFailure {
  return boundedFailure({ code, message, node_id: nodeId, class_type: classType, traceback });
}
